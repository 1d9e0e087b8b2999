import type { MakeStore } from './records.js';
import { describeErasing } from './store-erasing.js';
import { describeLists } from './store-lists.js';
import { describeLogs } from './store-logs.js';
import { describeMessages } from './store-messages.js';
import { describeRuns } from './store-runs.js';
import { describeSessions } from './store-sessions.js';
import { describeSteps } from './store-steps.js';
import { describeUsage } from './store-usage.js';

/** The contract of stores: every store runs this suite. */
export function describeStore(name: string, makeStore: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    describeSessions(makeStore);
    describeLists(makeStore);
    describeLogs(makeStore);
    describeMessages(makeStore);
    describeRuns(makeStore);
    describeSteps(makeStore);
    describeUsage(makeStore);
    describeErasing(makeStore);
  });
}
