import type { Store } from '../../server/stores/store.js';
import { StoreError } from '../../server/stores/store.js';

/**
 * What a store does with a call. `refuse`: nothing, and says so. `late`: it, some turns of the event loop later. `lose`: it, and its
 * answer is lost. `drop`: nothing, and its answer is lost all the same.
 */
export type Fate = 'do' | 'refuse' | 'late' | 'lose' | 'drop';

export interface HostileStore {
  readonly store: Store;
  /** How often each fate was met, by method. */
  readonly met: Map<string, number>;
  /** From now on the store behaves. */
  relent(): void;
}

/** Members that answer for the process rather than for a call. */
const SPARED = new Set(['open', 'close', 'watch', 'durability']);

/** A store with a fate for each call of a method, in the order of its calls; once there are none left it behaves. */
export function hostileStore(
  inner: Store,
  fates: Readonly<Partial<Record<keyof Store | 'others', readonly Fate[]>>>,
): HostileStore {
  let left = new Map(Object.entries(fates).map(([name, list]) => [name, [...list!]]));
  const met = new Map<string, number>();
  const store = new Proxy(inner, {
    get(target, name) {
      const member = target[name as keyof Store];
      if (typeof member !== 'function') return member;
      const call = (args: never[]): unknown => (member as (...all: never[]) => unknown).apply(target, args);
      if (SPARED.has(String(name))) return (...args: never[]) => call(args);
      return (...args: never[]): unknown => {
        const fate = (left.get(String(name)) ?? left.get('others'))?.shift() ?? 'do';
        const key = `${String(name)} ${fate}`;
        met.set(key, (met.get(key) ?? 0) + 1);
        return meet(fate, String(name), () => call(args));
      };
    },
  });
  return {
    store,
    met,
    relent: () => {
      left = new Map();
    },
  };
}

function meet(fate: Fate, name: string, call: () => unknown): unknown {
  // Of an append that was not answered nothing is known; all else can simply be asked again.
  const lost = new StoreError(name === 'append' ? 'UNKNOWN' : 'UNAVAILABLE', 'The answer was lost');
  switch (fate) {
    case 'do':
      return call();
    case 'refuse':
      throw new StoreError('UNAVAILABLE', 'Refused');
    case 'late':
      return (async () => {
        for (let i = 0; i < 3; i++) await new Promise(setImmediate);
        return call();
      })();
    case 'lose':
      return (async () => {
        await call();
        throw lost;
      })();
    case 'drop':
      return Promise.reject(lost);
  }
}
