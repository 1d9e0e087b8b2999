import type { AppendResult, EventRecord, LogRef, StepRecord, Store } from '../../server/stores/store.js';

/** Stores that break one promise each: the crash test must notice every one of them. */
export const mutants = {
  none: (store: Store): Store => store,

  /** Forgets what keys were used for. */
  dedupeOff: (store: Store): Store =>
    override(store, {
      run: (ref, name) => ('key' in name ? null : store.run(ref, name)),
      append: (log, events, options) => {
        const { key: _forgotten, ...opens } = options.opens ?? { runId: '', request: '' };
        return store.append(log, events, options.opens ? { ...options, opens } : options);
      },
    }),

  /** Answers first and writes a moment later. */
  commitLate: (store: Store): Store => {
    const heads = new Map<string, number>();
    return override(store, {
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
    override(store, {
      unfinished: () => [],
      async acquire(ref, options) {
        const acquired = await store.acquire(ref, options);
        return acquired.kind === 'acquired' ? { ...acquired, created: true } : acquired;
      },
    }),

  /** Keeps no step that has ended. */
  outcomesOff: (store: Store): Store => keeping(store, ({ outcome }) => outcome === undefined),

  /** Keeps no step that has only begun. */
  beginningsOff: (store: Store): Store => keeping(store, ({ outcome }) => outcome !== undefined),
};

function keeping(store: Store, kept: (step: StepRecord) => boolean): Store {
  return override(store, {
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
  setTimeout(() => void store.append(log, copies, options), 100);
  return { epoch: log.epoch, first, last };
}

function override(store: Store, changes: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name in changes) return changes[name as keyof Store];
      const member = target[name as keyof Store];
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
    },
  });
}
