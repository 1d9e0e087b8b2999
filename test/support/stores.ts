import { join } from 'node:path';
import { memoryStore } from '../../server/stores/memory.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { Store } from '../../server/stores/store.js';
import { isToday } from './daily.js';
import { FUZZ, SEED } from './fuzz.js';
import { type Fates, fatesByChance, hostileStore, type Rates } from './hostile-store.js';
import { tempDir } from './temp-dir.js';

/** The stores there are. */
export const ENGINES = {
  memory: memoryStore,
  SQLite: () => sqliteStore({ path: join(tempDir(), 'gateway.db') }),
} as const satisfies Record<string, () => Store>;

/** A store that tests run on. */
export interface StoreKind {
  readonly name: string;
  readonly engine: keyof typeof ENGINES;
  /** What of a hundred calls of every method of the port goes wrong, and how. */
  readonly rates: Rates;
  /** Whether callers may be refused, so that a test has to ask again. */
  readonly refuses: boolean;
  /** How many of a property's cases run on it, in parts of the usual number. */
  readonly share: number;
}

const LATE: Rates = { late: 100 };
const HOSTILE: Rates = { late: 10, refuse: 2, lose: 2, drop: 2 };

/** Every store that properties run on: as it is; late in every method; and one that besides refuses calls and loses its answers. */
const ALL: readonly StoreKind[] = [
  { name: 'memory', engine: 'memory', rates: {}, refuses: false, share: 0.5 },
  { name: 'SQLite', engine: 'SQLite', rates: {}, refuses: false, share: 0.2 },
  { name: 'late memory', engine: 'memory', rates: LATE, refuses: false, share: 0.3 },
  { name: 'late SQLite', engine: 'SQLite', rates: LATE, refuses: false, share: 0.1 },
  { name: 'hostile memory', engine: 'memory', rates: HOSTILE, refuses: true, share: 0.2 },
  { name: 'hostile SQLite', engine: 'SQLite', rates: HOSTILE, refuses: true, share: 0.15 },
];

/** Of a day: each engine, and each way of answering, on one of both. */
const TODAYS = ALL.filter((_, at) => isToday(at + Math.floor(at / 2), 2));

/** `TEST_STORE=SQLite` leaves the one of that name, `TEST_STORE=late` those whose names have that in them, each with twice the cases. */
const WANTED = process.env.TEST_STORE?.toLowerCase();

function named(wanted: string): readonly StoreKind[] {
  const one = ALL.filter(({ name }) => name.toLowerCase() === wanted);
  return one.length > 0 ? one : ALL.filter(({ name }) => name.toLowerCase().includes(wanted));
}

export const STORES: readonly StoreKind[] =
  WANTED === undefined ? TODAYS : named(WANTED).map((kind) => ({ ...kind, share: kind.share * 2 }));
if (STORES.length === 0)
  throw new Error(`TEST_STORE=${WANTED}: there are ${ALL.map(({ name }) => name).join(', ')}`);

/** Those that take every call. */
export const WILLING_STORES = STORES.filter(({ refuses }) => !refuses);

/** The store of a gateway whose test names none: what the gateway would take itself, or the first that `TEST_STORE` leaves. */
export const unnamedStore = (): { readonly store?: Store } =>
  WANTED === undefined ? {} : { store: storeOf(STORES[0]!) };

/** A store of a kind. */
const storeOf = (kind: StoreKind): Store => hostileStore(ENGINES[kind.engine](), fatesOf(kind)).store;

/** A store that answers every call some turns of the event loop later. */
export const LATE_MEMORY = ALL.find(({ name }) => name === 'late memory')!;

/** How many cases a property is tried with on a store. */
export const casesOn = ({ share }: StoreKind, usual: number): number =>
  Math.max(3, Math.ceil(usual * share)) * Math.max(1, FUZZ);

/**
 * The fates of a store of this kind, other ones each time properties are fuzzed: `SEED` gives the same again. A page that cannot be
 * read is late here: a stream reads it again after up to five seconds, too long for many cases (delivery/failing-reads has it refused).
 */
export function fatesOf({ rates }: StoreKind): Fates {
  const byChance = fatesByChance(SEED, rates);
  return (method) => {
    const fate = byChance(method);
    return fate !== 'do' && method === 'read' ? 'late' : fate;
  };
}
