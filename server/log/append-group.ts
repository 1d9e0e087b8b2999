import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { mapPacked } from '../../shared/map-packed.js';
import type { AppendOptions, EventRecord, RunEnd } from '../stores/append.js';
import type { RecordChange } from '../stores/records.js';
import type { RunRecord } from '../stores/stored.js';
import { type Entry, toEntry } from './entry.js';
import { keptEndsOf } from './outcome.js';

/** The result of an append. */
export interface Committed {
  readonly first: number;
  readonly last: number;
  readonly duplicate?: RunRecord;
  readonly stale?: true;
}

/**
 * A function that makes event drafts from the state just before them, once all earlier appends are committed. It also gets the number of its
 * drafts that the store can never keep.
 */
type MadeDrafts = (state: SessionState, refused: number) => readonly EventDraft[];

/** Event drafts, or a function that makes them. */
export type Drafts = readonly EventDraft[] | MadeDrafts;
/** A run that may end, as far as its log is concerned. */
export interface EndingRun {
  readonly id: string;
  readonly request: { readonly user: UserContext | null };
}

/** Options of a group of events. */
export type GroupOptions = Pick<
  AppendOptions,
  'opens' | 'steps' | 'messages' | 'rewrites' | 'close' | 'erase'
> & {
  /** Changes of records, or a function that returns them once the events are made. */
  readonly records?: readonly RecordChange[] | (() => readonly RecordChange[]);
  /** The texts that search finds from then on, where the state does not tell. @default what the events and rows say */
  readonly said?: AppendOptions['said'];
  /** Runs that this append may end. Anything an ended run yields later is dropped. */
  readonly ends?: readonly EndingRun[];
  /** Whether the session is parked from this append until the next change of its activity. @default unchanged */
  readonly parked?: boolean;
  /** Whether the group is refused while the store can't be written, because a caller waits. Other groups are kept and tried again. */
  readonly refusable?: boolean;
  /** How many plainer forms its drafts have, for a store that can never keep the others. They are made in its place. @default 0 */
  readonly forms?: number;
  /** Called as soon as the group is acknowledged, before anything later is looked at. Not called for a group that was written before. */
  readonly acknowledged?: () => void;
};

/** Events that are written in one append. */
export interface Group {
  readonly entries: Entry[] | MadeDrafts;
  /** The entries that the store may have. They are sent again unchanged. */
  sent?: readonly Entry[] | null;
  /** Number of its forms that the store can never keep. */
  refused?: number;
  readonly options: GroupOptions | null;
  readonly waiter: { resolve(value: Committed): void; reject(error: unknown): void } | null;
}

/** Entries that were handed to the store. */
export interface WrittenGroup {
  readonly entries: readonly Entry[];
  readonly records: readonly EventRecord[];
  readonly options: AppendOptions;
}

/** Runs by their ids. */
export type NamedRuns = readonly { readonly runId: string }[];

/** The runs that these entries are of. */
export const runsOf = (entries: readonly Entry[]): NamedRuns =>
  entries.flatMap(({ record: { runId } }) => (runId === undefined ? [] : [{ runId }]));

/** The runs that these entries end, with their outcomes. */
function endsOf({ options }: Group, entries: readonly Entry[]): readonly RunEnd[] | null {
  if (!options?.ends) return null;
  // The children of a run end with it, so there may be more of them than were named.
  const ends = keptEndsOf(mapPacked(entries, ({ event }) => event as EventDraft));
  return ends.length > 0 ? ends : null;
}

/** Size of the events, steps, records, messages and rewritten events of groups, in characters. Events that are not made yet do not count. */
export function sizeOf(groups: readonly Group[]): number {
  let size = 0;
  for (const { sent, entries: made, options } of groups) {
    const entries = sent ?? made;
    for (const { outcome = '' } of options?.steps ?? []) size += outcome.length;
    for (const { value = '' } of recordsOf(options)) size += value.length;
    for (const { body } of options?.rewrites?.events ?? []) size += body.length;
    for (const message of options?.messages ?? []) size += JSON.stringify(message).length;
    if (Array.isArray(entries)) for (const { record } of entries) size += record.body.length;
  }
  return size;
}

/** The changes of records in a group's options, or in a plan. */
export function recordsOf(from: Pick<GroupOptions, 'records'> | null): readonly RecordChange[] {
  const { records = [] } = from ?? {};
  return typeof records === 'function' ? records() : records;
}

/** Whether a group has anything to store besides events. */
export const changesMore = (options: GroupOptions | null): boolean =>
  options?.steps !== undefined ||
  options?.messages !== undefined ||
  options?.rewrites !== undefined ||
  options?.parked !== undefined ||
  recordsOf(options).length > 0;

/** The options with which a group is appended. @param caused The changes that its events cause */
export function appendOptionsOf(
  group: Group,
  entries: readonly Entry[],
  caused: Pick<AppendOptions, 'activity' | 'about' | 'records' | 'said'> | null,
  place: Pick<AppendOptions, 'term' | 'batch'>,
): AppendOptions {
  const { term, batch } = place;
  if (!group.options) return caused ? { term, batch, ...caused } : place;
  const { opens, steps, messages, rewrites, close, erase } = group.options;
  const { records: causedRecords = [], ...changed } = caused ?? {};
  // Nobody gets a notice of a deleted session.
  const records = [...recordsOf(group.options), ...(erase === undefined ? causedRecords : [])];
  const ends = endsOf(group, entries);
  return {
    term,
    batch,
    ...(opens && { opens }),
    ...(steps && { steps }),
    ...(messages && { messages }),
    ...(rewrites && { rewrites }),
    ...(records.length > 0 && { records }),
    ...(ends && { ends }),
    ...changed,
    ...(close && { close }),
    ...(erase !== undefined && { erase }),
  };
}

/**
 * The entries of a group to write now that everything before it is written; null if the group was refused.
 *
 * @param view Asked for its state only if the entries are made from it, because a state is folded when it is asked for
 * @param over Runs that ended while their last events were on the way
 */
export function entriesToWrite(
  { entries, sent, refused = 0, options, waiter }: Group,
  view: { readonly state: SessionState },
  closed: boolean,
  over: ReadonlySet<string> | null,
): readonly Entry[] | null {
  if (sent) return sent;
  if (closed) {
    waiter?.reject(new GatewayError({ code: 'SESSION_CLOSED' }));
    return waiter ? null : [];
  }
  try {
    if (typeof entries === 'function') return mapPacked(entries(view.state, refused), toEntry);
  } catch (error) {
    waiter?.reject(error);
    return null;
  }
  if (!over) return entries;
  const kept = entries.filter(({ record }) => record.runId === undefined || !over.has(record.runId));
  const late = kept.length < entries.length || options?.steps?.some(({ runId }) => over.has(runId));
  if (!waiter || !late) return kept;
  waiter.reject(new GatewayError({ code: 'ALREADY_ANSWERED', message: 'The run has ended' }));
  return null;
}
