import { isPromise } from '../../server/async/maybe-promise.js';
import type { AppendResult, EventRecord } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import type { LogRef } from '../../server/stores/stored.js';
import type { GatewayEvent } from '../../shared/events.js';
import { type HostileStore, hostileStore } from './hostile-store.js';
import { overriding } from './overriding.js';
import { ENGINES, fatesOf, LATE_MEMORY, STORES, type StoreKind } from './stores.js';
import { noteUntrue, StreamedAnswers } from './streamed.js';

/** A store that remembers everything it acknowledged, and watches that ends say what was streamed: the model of property tests. */
export interface TestStore {
  readonly store: Store;
  /** What of its calls went wrong, and how to have it behave. */
  readonly hostile: HostileStore;
  /** Every event ever acknowledged, by epoch, whatever was cut since. */
  readonly logs: Map<string, GatewayEvent[]>;
  /** Epochs of a session's logs, oldest first. */
  epochsOf(name: string): string[];
  /** First retained sequence number of a log. */
  firstOf(epoch: string): number;
  /** Events of the newest log of a session. */
  eventsOf(name: string): GatewayEvent[];
}

/** Makers of stores by their names: as they are, and one that answers late. */
export const ENGINES_AND_LATE: Readonly<Record<string, () => Store>> = {
  ...ENGINES,
  'late memory': () => testStore(LATE_MEMORY).store,
};

export function testStore(kind: StoreKind = STORES[0]!, inner: Store = ENGINES[kind.engine]()): TestStore {
  const logs = new Map<string, GatewayEvent[]>();
  const epochs = new Map<string, string[]>();
  const firsts = new Map<string, number>();
  const answers = new Map<string, StreamedAnswers>();

  const remember = (log: LogRef, events: readonly EventRecord[], result: AppendResult): void => {
    if (result.duplicate) return;
    let kept = logs.get(log.epoch);
    if (!kept) {
      kept = [];
      logs.set(log.epoch, kept);
      epochs.set(log.name, [...(epochs.get(log.name) ?? []), log.epoch]);
      answers.set(log.epoch, new StreamedAnswers());
    }
    for (const [i, { type, body }] of events.entries()) {
      const cursor = `${log.epoch}.${events[i]!.term}.${result.first + i}`;
      if (kept.length !== result.first + i - 1) continue;
      const event = { type, cursor, ...JSON.parse(body) } as GatewayEvent;
      kept.push(event);
      const wrong = answers.get(log.epoch)!.take(event);
      if (wrong !== null) noteUntrue(wrong);
    }
  };

  const remembering = overriding(inner, {
    append(log, events, options) {
      const appended = inner.append(log, events, options);
      const noted = (answer: AppendResult): AppendResult => {
        remember(log, events, answer);
        return answer;
      };
      return isPromise(appended) ? appended.then(noted) : noted(appended);
    },
    cut(log, checkpoint, ...rest) {
      const result = inner.cut(log, checkpoint, ...rest);
      firsts.set(log.epoch, checkpoint.seq + 1);
      return result;
    },
  });
  const hostile = hostileStore(remembering, fatesOf(kind));
  const epochsOf = (name: string): string[] => epochs.get(name) ?? [];
  const firstOf = (epoch: string): number => firsts.get(epoch) ?? 1;
  return {
    store: hostile.store,
    hostile,
    logs,
    epochsOf,
    firstOf,
    eventsOf: (name) => logs.get(epochsOf(name).at(-1) ?? '') ?? [],
  };
}
