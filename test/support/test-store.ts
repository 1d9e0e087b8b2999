import { isPromise, type MaybePromise } from '../../server/maybe-promise.js';
import { memoryStore } from '../../server/stores/memory.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { AppendResult, Checkpoint, EventRecord, LogRef, Store } from '../../server/stores/store.js';
import type { GatewayEvent } from '../../shared/events.js';
import { newDatabase } from './durable.js';

/** A memory store that remembers everything it acknowledged: the model of property tests. */
export interface TestStore {
  readonly store: Store;
  /** Every event ever acknowledged, by epoch, whatever was cut since. */
  readonly logs: Map<string, GatewayEvent[]>;
  /** Epochs of a session's logs, oldest first. */
  epochsOf(name: string): string[];
  /** First retained sequence number of a log. */
  firstOf(epoch: string): number;
  /** Events of the newest log of a session. */
  eventsOf(name: string): GatewayEvent[];
}

/**
 * @param options.async Answers by promise, each after a turn of the event loop, as a store on disk or network does.
 */
export function testStore(options: { readonly async?: boolean } = {}): TestStore {
  // The same properties hold of every store: `npm run test:sqlite`.
  const inner = process.env.TEST_STORE === 'sqlite' ? sqliteStore({ path: newDatabase() }) : memoryStore();
  const logs = new Map<string, GatewayEvent[]>();
  const epochs = new Map<string, string[]>();
  const firsts = new Map<string, number>();

  const remember = (log: LogRef, events: readonly EventRecord[], result: AppendResult): void => {
    if (result.duplicate) return;
    let kept = logs.get(log.epoch);
    if (!kept) {
      kept = [];
      logs.set(log.epoch, kept);
      epochs.set(log.name, [...(epochs.get(log.name) ?? []), log.epoch]);
    }
    for (const [i, { type, body }] of events.entries()) {
      const cursor = `${log.epoch}.${events[i]!.term}.${result.first + i}`;
      if (kept.length === result.first + i - 1) kept.push({ type, cursor, ...JSON.parse(body) });
    }
  };

  const store = new Proxy(inner, {
    get(target, name) {
      const member = target[name as keyof Store];
      if (typeof member !== 'function') return member;
      const call = (...args: never[]): unknown => {
        const result = (member as (...all: never[]) => unknown).apply(target, args);
        if (name === 'append') {
          const appended = result as MaybePromise<AppendResult>;
          if (!isPromise(appended)) remember(args[0]!, args[1]!, appended);
          else {
            return appended.then((answer) => {
              remember(args[0]!, args[1]!, answer);
              return answer;
            });
          }
        }
        if (name === 'cut') firsts.set((args[0]! as LogRef).epoch, (args[1]! as Checkpoint).seq + 1);
        return result;
      };
      if (!options.async || name === 'watch') return call;
      return async (...args: never[]) => {
        await new Promise(setImmediate);
        return call(...args);
      };
    },
  });
  const epochsOf = (name: string): string[] => epochs.get(name) ?? [];
  const firstOf = (epoch: string): number => firsts.get(epoch) ?? 1;
  return { store, logs, epochsOf, firstOf, eventsOf: (name) => logs.get(epochsOf(name).at(-1) ?? '') ?? [] };
}
