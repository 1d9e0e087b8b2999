import { StoreError } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import { passing } from '../support/overriding.js';

const WRITES: ReadonlySet<string> = new Set([
  'acquire',
  'release',
  'append',
  'changeRecords',
  'cut',
  'remove',
]);
const READS: ReadonlySet<string> = new Set([
  ...['read', 'head', 'records', 'run', 'checkpoint', 'messages', 'replies', 'list', 'count', 'usage'],
]);

/** How a call is cut: refused before it, made and not answered, neither, or made and answered late. */
export const CUTS = ['refused', 'made', 'lost', 'late'] as const;
export type Cut = (typeof CUTS)[number];

/** The one call that is cut. Calls are counted from when it is armed. */
export interface CutPlan {
  /** 0 for none. */
  readonly at: number;
  readonly cut: Cut;
  /** What happens while the call is on its way. */
  meanwhile?(): Promise<unknown>;
}

/** A store of which one call is cut, and which outlives its gateways. */
export function cutStore(inner: Store, { at, cut, meanwhile = turn }: CutPlan) {
  const calls = { isArmed: false, names: [] as string[], hit: '' };
  const fail = async (name: string, call: () => unknown): Promise<unknown> => {
    calls.hit = name;
    const isMade = cut === 'made' && WRITES.has(name);
    if (isMade) await call();
    const made = cut === 'late' ? await call() : undefined;
    await meanwhile();
    if (cut === 'late') return made;
    const isUnknown = WRITES.has(name) && cut !== 'refused';
    throw new StoreError(isUnknown ? 'UNKNOWN' : 'UNAVAILABLE', `cut: ${cut}`);
  };
  const store = passing(inner, (name, call) => {
    if (name === 'close' || name === 'open') return undefined;
    if (!WRITES.has(name) && !READS.has(name)) return call();
    const isHit = calls.isArmed && calls.names.push(name) === at;
    return turn().then(() => (isHit ? fail(name, call) : call()));
  });
  return { store, calls };
}

const turn = (): Promise<unknown> => new Promise(setImmediate);
