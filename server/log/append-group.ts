import type { UserContext } from '../../shared/contract.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { mapPacked } from '../../shared/map-packed.js';
import type { RecordChange } from '../stores/records.js';
import type { AppendOptions, RunEnd, RunRecord } from '../stores/store.js';
import type { Entry } from './entry.js';
import { outcomesOf } from './outcome.js';

/** What an append came to. */
export interface Committed {
  readonly first: number;
  readonly last: number;
  readonly duplicate?: RunRecord;
  readonly repeated?: true;
  readonly stale?: true;
}

/** Drafts, or what makes them of the state just before them once everything earlier is committed. */
export type Drafts = readonly EventDraft[] | ((state: SessionState) => readonly EventDraft[]);
/** A run that may end, as far as its log is concerned. */
export interface EndingRun {
  readonly id: string;
  readonly request: { readonly user: UserContext | null };
}

/** What goes with a group of events. */
export type GroupOptions = Pick<AppendOptions, 'opens' | 'steps' | 'once' | 'close' | 'erase'> & {
  /** Changes of records, or what gives those that go with the events once these are made. */
  readonly records?: readonly RecordChange[] | (() => readonly RecordChange[]);
  /** The runs that may end with it. What those that do still yield after that is dropped. */
  readonly ends?: readonly EndingRun[];
  /** Whether the session is parked from here on, until something else happens in it. @default as it is */
  readonly parked?: boolean;
  /** Somebody waits for it who can be told no: it is refused while the store can't be written. The rest is kept and tried again. */
  readonly refusable?: boolean;
  /** Called as soon as it is acknowledged, before anything that was appended after it is looked at. Not for what was written before. */
  readonly acknowledged?: () => void;
};

/** Events that are written in one append. */
export interface Group {
  entries: Entry[] | ((state: SessionState) => readonly EventDraft[]);
  /** The store may have it already: it is tried again as it is, until that is known. */
  inDoubt?: boolean;
  readonly options: GroupOptions | null;
  readonly waiter: { resolve(value: Committed): void; reject(error: unknown): void } | null;
}

/** The runs of a group that end with these entries, with their outcomes. */
export function endsOf({ options }: Group, entries: readonly Entry[]): readonly RunEnd[] | null {
  if (!options?.ends) return null;
  const outcomes = outcomesOf(mapPacked(entries, ({ event }) => event as EventDraft));
  const ends = options.ends.flatMap(({ id: runId }) => {
    const result = outcomes.get(runId);
    return result ? [{ runId, result }] : [];
  });
  return ends.length > 0 ? ends : null;
}

/** Size of the events, steps and records of groups, in characters, as far as they are made. */
export function sizeOf(groups: readonly Group[]): number {
  let size = 0;
  for (const { entries, options } of groups) {
    for (const { outcome = '' } of options?.steps ?? []) size += outcome.length;
    for (const { value = '' } of recordsOf(options)) size += value.length;
    if (Array.isArray(entries)) for (const { record } of entries) size += record.body.length;
  }
  return size;
}

/** The changes of records that go with a group. */
export function recordsOf(options: GroupOptions | null): readonly RecordChange[] {
  const { records = [] } = options ?? {};
  return typeof records === 'function' ? records() : records;
}
