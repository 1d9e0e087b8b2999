import type { MakeStore } from './records.js';
import { afterEach, closeAll, describe, runWith, type TestRunner } from './runner.js';
import { describeCopies } from './store-copies.js';
import { describeErasing } from './store-erasing.js';
import { describeLists } from './store-lists.js';
import { describeLogs } from './store-logs.js';
import { describeMessages } from './store-messages.js';
import { describeRecords } from './store-records.js';
import { describeRewriting } from './store-rewriting.js';
import { describeRuns } from './store-runs.js';
import { describeSearch } from './store-search.js';
import { describeSessions } from './store-sessions.js';
import { describeSteps } from './store-steps.js';
import { describeText } from './store-text.js';
import { describeUsage } from './store-usage.js';

/**
 * Registers the contract tests of stores, which every store of this package passes.
 *
 * @param makeStore Makes a new and empty store for each test.
 * @param runner @default the global functions of mocha, or of vitest and Jest with their globals
 *
 * @example
 * ```ts
 * describeStore('mine', () => {
 *   const store = memoryStore();
 *   return { store, cleanup: () => store.close() };
 * });
 * ```
 */
export function describeStore(
  name: string,
  makeStore: MakeStore,
  runner: TestRunner = globalThis as unknown as TestRunner,
): void {
  runWith(runner);
  describe(`store contract: ${name}`, () => {
    afterEach(closeAll);
    describeSessions(makeStore);
    describeLists(makeStore);
    describeLogs(makeStore);
    describeMessages(makeStore);
    describeRuns(makeStore);
    describeSteps(makeStore);
    describeRecords(makeStore);
    describeSearch(makeStore);
    describeText(makeStore);
    describeUsage(makeStore);
    describeRewriting(makeStore);
    describeErasing(makeStore);
    describeCopies(makeStore);
  });
}
