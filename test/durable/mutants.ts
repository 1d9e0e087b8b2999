import type { AppendResult, EventRecord } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { IDLE, type LogRef, type StepRecord } from '../../server/stores/stored.js';
import { overriding } from '../support/overriding.js';

/** Stores that break one promise each: the crash test must notice every one of them. */
export const mutants = {
  none: (store: Store): Store => store,

  /** Closes a session, and drops what is kept of it a moment later. */
  deleteInTwo: (store: Store): Store =>
    overriding(store, {
      async append(log, events, { erase, ...options }) {
        if (erase === undefined) return store.append(log, events, options);
        const closed = await store.append(log, events, { ...options, close: true });
        await new Promise((resolve) => setTimeout(resolve, 200));
        await store.remove(log);
        return closed;
      },
    }),

  /** Forgets what keys were used for. */
  dedupeOff: (store: Store): Store =>
    overriding(store, {
      run: (ref, name) => ('key' in name ? null : store.run(ref, name)),
      append: (log, events, options) => {
        const { key: _forgotten, ...opens } = options.opens ?? { runId: '', request: '' };
        return store.append(log, events, options.opens ? { ...options, opens } : options);
      },
    }),

  /** Answers first and writes a moment later. */
  commitLate: (store: Store): Store => {
    const heads = new Map<string, number>();
    return overriding(store, {
      async acquire(ref, options) {
        const acquired = await store.acquire(ref, options);
        if (acquired.kind === 'acquired') heads.set(acquired.head.epoch, acquired.head.head);
        return acquired;
      },
      async append(log, events, options) {
        const key = options.opens?.key;
        const duplicate = key === undefined ? null : await store.run(log, { key });
        const head = heads.get(log.epoch)!;
        if (duplicate) return { epoch: log.epoch, first: head + 1, last: head, duplicate };
        return late(store, heads, { log, events, options });
      },
    });
  },

  /** Takes sessions up as if there were nothing to recover. */
  recoveryOff: (store: Store): Store =>
    overriding(store, {
      unfinished: () => [],
      async acquire(ref, options) {
        const acquired = await store.acquire(ref, options);
        return acquired.kind === 'acquired' ? { ...acquired, created: true } : acquired;
      },
    }),

  /** Takes a move, and a moment later the message that came with it. */
  movesApart: (store: Store): Store => {
    const parts = new Map<string, number>();
    return overriding(store, {
      async append(log, events, options) {
        const behind = events.findIndex(({ type }) => type === 'history_moved') + 1;
        const { term, ends = [] } = options;
        const writer = `${log.epoch} ${term}`;
        const more = parts.get(writer) ?? 0;
        const batch = options.batch + more;
        if (behind === 0 || behind === events.length) return store.append(log, events, { ...options, batch });
        parts.set(writer, more + 1);
        const { first } = await store.append(log, events.slice(0, behind), {
          term,
          batch,
          ends,
          activity: IDLE,
        });
        await new Promise((resolve) => setTimeout(resolve, 10));
        const { ends: _, ...rest } = options;
        const second = await store.append(log, events.slice(behind), { ...rest, batch: batch + 1 });
        return { ...second, first };
      },
    });
  },

  /** Keeps no step that has ended. */
  outcomesOff: (store: Store): Store => keeping(store, ({ outcome }) => outcome === undefined),

  /** Keeps no step that has only begun. */
  beginningsOff: (store: Store): Store => keeping(store, ({ outcome }) => outcome !== undefined),
};

function keeping(store: Store, kept: (step: StepRecord) => boolean): Store {
  return overriding(store, {
    append: (log, events, options) =>
      store.append(log, events, options.steps ? { ...options, steps: options.steps.filter(kept) } : options),
  });
}

function late(
  store: Store,
  heads: Map<string, number>,
  append: { log: LogRef; events: readonly EventRecord[]; options: Parameters<Store['append']>[2] },
): AppendResult {
  const { log, events, options } = append;
  const first = heads.get(log.epoch)! + 1;
  const last = first + events.length - 1;
  heads.set(log.epoch, last);
  const copies = events.map((event, i) => {
    event.seq = first + i;
    event.term = options.term;
    return { ...event };
  });
  // A store that refuses it by then is told to nobody either.
  setTimeout(async () => {
    try {
      await store.append(log, copies, options);
    } catch {}
  }, 100);
  return { epoch: log.epoch, first, last };
}
