import { memoryStore, type Store } from '../server/index.js';
import type { AcquireOptions, SessionRef } from '../server/stores/index.js';

/** A store that outlives the gateways of a test. Each gateway has a line to it. */
export interface KeptStore {
  /** A gateway's own view of the store. */
  line(): KeptStoreLine;
  close(): Promise<void>;
}

/** One gateway's line to a kept store. */
export interface KeptStoreLine {
  readonly store: Store;
  /** Stops all calls and answers between this gateway and the store, as the end of its process would. */
  cut(): void;
}

/** Keeps a store open from gateway to gateway. Acknowledged data survives the end of a process even in memory. */
export function keepStore(inner: Store = memoryStore()): KeptStore {
  let opened: ReturnType<Store['open']>;
  let isOpen = false;
  const open = (): ReturnType<Store['open']> => {
    if (!isOpen) opened = inner.open();
    isOpen = true;
    return opened;
  };
  return {
    close: async () => inner.close(),
    line: () => {
      let isCut = false;
      const own: Partial<Store> = {
        durability: inner.durability === 'memory' ? 'process' : inner.durability,
        open,
        close: () => {},
        acquire: (ref: SessionRef, options: AcquireOptions) => {
          if (isCut) return new Promise(() => {});
          const { taken } = options;
          return inner.acquire(ref, taken ? { ...options, taken: () => isCut || taken() } : options);
        },
      };
      const store = new Proxy(inner, {
        get(target, name) {
          if (Object.hasOwn(own, name)) return own[name as keyof Store];
          const member = target[name as keyof Store] as unknown;
          if (typeof member !== 'function') return member;
          return (...args: unknown[]): unknown =>
            isCut && name !== 'watch' ? new Promise(() => {}) : member.apply(target, args);
        },
      });
      return {
        store,
        cut: () => {
          isCut = true;
        },
      };
    },
  };
}
