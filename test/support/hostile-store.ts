import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { passing } from './overriding.js';

/**
 * What a store does with a call. `refuse`: nothing, and says so. `late`: it, some turns of the event loop later, and answers later
 * still. `lose`: it, and its answer is lost. `drop`: nothing, and its answer is lost all the same.
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
const SPARED = new Set([
  'open',
  'close',
  'check',
  'vacuum',
  'backup',
  'scopes',
  'watch',
  'durability',
  'files',
  'shared',
]);

type Hostile = Exclude<
  keyof Store,
  'open' | 'close' | 'check' | 'scopes' | 'vacuum' | 'backup' | 'watch' | 'durability' | 'files' | 'shared'
>;

const hostile: Readonly<Record<Hostile, true>> = {
  acquire: true,
  release: true,
  append: true,
  read: true,
  head: true,
  changeRecords: true,
  records: true,
  takeDue: true,
  conversations: true,
  run: true,
  openRuns: true,
  cut: true,
  checkpoint: true,
  messages: true,
  replies: true,
  record: true,
  list: true,
  search: true,
  count: true,
  usage: true,
  unfinished: true,
  expire: true,
  remove: true,
  kept: true,
};

/** Every member of the port whose calls meet a fate: the compiler misses what a port has more. */
export const HOSTILE_METHODS = Object.keys(hostile) as readonly Hostile[];

/** Decides what becomes of the next call of a method. */
export type Fates = (method: string) => Fate;

/** Fates for the calls of each method in their order; the calls after them are done. */
export function listedFates(
  lists: Readonly<Partial<Record<keyof Store | 'others', readonly Fate[]>>>,
): Fates {
  const left = new Map(Object.entries(lists).map(([name, list]) => [name, [...list!]]));
  return (method) => (left.get(method) ?? left.get('others'))?.shift() ?? 'do';
}

/** How many of a hundred calls meet a fate, whatever their method. */
export type Rates = Readonly<Partial<Record<Exclude<Fate, 'do'>, number>>>;

/** Fates by chance: the same for the same seed. */
export function fatesByChance(seed: number, rates: Rates): Fates {
  let state = seed >>> 0;
  // mulberry32: small, and as random as this needs.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * 100;
  };
  return () => {
    let at = next();
    for (const [fate, rate] of Object.entries(rates)) {
      at -= rate;
      if (at < 0) return fate as Fate;
    }
    return 'do';
  };
}

/** A store that does with each call what its fate is. */
export function hostileStore(inner: Store, fates: Fates): HostileStore {
  let given = fates;
  let calls = 0;
  const met = new Map<string, number>();
  const store = passing(inner, (name, call) => {
    if (SPARED.has(name)) return call();
    const fate = given(name);
    const key = `${name} ${fate}`;
    met.set(key, (met.get(key) ?? 0) + 1);
    return meet(fate, name, call, (calls++ % 3) + 1);
  });
  return {
    store,
    met,
    relent: () => {
      given = () => 'do';
    },
  };
}

function meet(fate: Fate, name: string, call: () => unknown, turns: number): unknown {
  // Of an append that was not answered nothing is known; all else can simply be asked again.
  const lost = new StoreError(name === 'append' ? 'UNKNOWN' : 'UNAVAILABLE', 'The answer was lost');
  switch (fate) {
    case 'do':
      return call();
    case 'refuse':
      throw new StoreError('UNAVAILABLE', 'Refused');
    case 'late':
      return (async () => {
        for (let i = 0; i < turns >> 1; i++) await new Promise(setImmediate);
        const answer = await call();
        for (let i = turns >> 1; i < turns; i++) await new Promise(setImmediate);
        return answer;
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
