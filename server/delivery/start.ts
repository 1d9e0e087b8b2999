import { type Cursor, formatCursor, parseCursor } from '../../shared/cursor.js';
import type { GapReason } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { From } from '../../shared/operation-types.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { LogView } from '../log/log-view.js';
import type { ReadableLog } from '../log/readable-log.js';
import { stateAt } from '../log/snapshot.js';

/** The place at which a subscriber asks to start. A cursor wins over `from`. */
export interface StartRequest {
  readonly cursor?: string | undefined;
  readonly from?: From | undefined;
}

/** The resolved start: after `after` in `log`. With a gap, or on request, the folded state comes first. */
export interface ReaderStart {
  readonly log: ReadableLog | null;
  readonly after: number;
  readonly resume: 'new' | 'exact' | 'gap';
  readonly gap?: { readonly reason: GapReason; readonly requested: string | null };
  readonly snapshot?: SessionState;
}

/** The session that a start is resolved in. */
export interface StartSource {
  readonly log: LogView | null;
  /** Place just before the active run's first event; null when nothing runs. */
  readonly runStart: number | null;
  /** A closed log of this session that is still kept. */
  pastLog(epoch: string): Promise<ReadableLog | null>;
  /** The last such log. */
  lastLog(): Promise<ReadableLog | null>;
  /**
   * Asks the store for events of other writers: a reader may have seen more elsewhere than is known here.
   *
   * @returns null if nobody else writes
   */
  refresh(): Promise<void> | null;
}

/** Finds the place that a request names, or the gap that says why it is gone. Never silent, never partial (design section 5, promise 3). */
export async function resolveStart(source: StartSource, request: StartRequest): Promise<ReaderStart> {
  let isFresh = false;
  if (source.log?.isReplaced) await source.refresh();
  for (;;) {
    const start = await find(source, request);
    // The place was cut while the store was asked, so resolve it again.
    if (!start) continue;
    if (!start.gap || isFresh) return start;
    isFresh = true;
    const refreshed = source.refresh();
    if (!refreshed) return start;
    await refreshed;
  }
}

/** Null if the log was cut meanwhile. */
function find(source: StartSource, request: StartRequest): MaybePromise<ReaderStart | null> {
  // An empty cursor means that the session had not begun, so the reader has missed everything since.
  if (request.cursor === '') return { log: null, after: 0, resume: 'new' };
  if (request.cursor !== undefined) return fromCursor(source, request.cursor);
  const { log } = source;
  if (!log) return source.lastLog().then(behind);
  // The log goes on while the store is asked. The result is for this head.
  const { head } = log;
  switch (request.from ?? 'now') {
    case 'snapshot':
      return withSnapshot(log, head);
    case 'earliest':
      if (log.first > 1) return gap(log, 'evicted', null, log.first - 1);
      return { log, after: 0, resume: 'new' };
    case 'run': {
      const { runStart } = source;
      if (runStart === null) return { log, after: head, resume: 'new' };
      return runStart >= log.first - 1
        ? { log, after: runStart, resume: 'new' }
        : gap(log, 'evicted', null, log.first - 1);
    }
    default:
      return { log, after: head, resume: 'new' };
  }
}

async function withSnapshot(log: LogView, head: number): Promise<ReaderStart | null> {
  const snapshot = await stateAt(log, head);
  return snapshot && { log, after: head, resume: 'new', snapshot };
}

function fromCursor(source: StartSource, requested: string): MaybePromise<ReaderStart | null> {
  const { log } = source;
  const cursor = parseCursor(requested);
  if (!cursor)
    return log ? gap(log, 'malformed', requested, log.head) : gapWithoutLog(source, 'malformed', requested);
  if (log && cursor.epoch === log.ref.epoch) return inLog(log, cursor, requested);
  return inPastLog(source, cursor, requested);
}

async function inPastLog(
  source: StartSource,
  cursor: Cursor,
  requested: string,
): Promise<ReaderStart | null> {
  const { log } = source;
  const past = await source.pastLog(cursor.epoch);
  // The reader finishes a closed log first. At its end, the subscription announces the new epoch.
  if (past && placeOf(past, cursor) === 'exact') return { log: past, after: cursor.seq, resume: 'exact' };
  return log ? gap(log, 'epoch', requested, log.first - 1) : gapWithoutLog(source, 'epoch', requested);
}

function inLog(log: LogView, cursor: Cursor, requested: string): MaybePromise<ReaderStart | null> {
  const place = placeOf(log, cursor);
  if (place === 'exact') return { log, after: cursor.seq, resume: 'exact' };
  if (place === 'evicted') return gap(log, place, requested, log.first - 1);
  if (place === 'truncated')
    return gap(log, place, requested, Math.max(log.first - 1, endOfTerm(log, cursor.term)));
  return gap(log, place, requested, log.head);
}

function placeOf(log: ReadableLog, cursor: Cursor): 'exact' | Exclude<GapReason, 'epoch'> {
  const { term, seq } = cursor;
  if (seq > log.head) return term >= log.termAt(log.head) ? 'ahead' : 'truncated';
  if (seq < log.first - 1) return 'evicted';
  if (seq === 0 || term === log.termAt(seq)) return 'exact';
  // The number exists again with another term. The events that the cursor saw were lost, with a tail or by restoring a backup.
  return 'truncated';
}

function endOfTerm(log: ReadableLog, term: number): number {
  let seq = log.head;
  while (seq > 0 && seq >= log.first && log.termAt(seq) > term) seq -= 1;
  return seq;
}

async function gap(
  log: LogView,
  reason: GapReason,
  requested: string | null,
  after: number,
): Promise<ReaderStart | null> {
  const snapshot = await stateAt(log, after);
  return snapshot && { log, after, resume: 'gap', gap: { reason, requested }, snapshot };
}

async function gapWithoutLog(
  source: StartSource,
  reason: GapReason,
  requested: string,
): Promise<ReaderStart> {
  const past = await source.lastLog();
  // A deleted session leaves one event, which says so.
  const after = past && past.head > 1 ? past.head : 0;
  return {
    log: past,
    after,
    resume: 'gap',
    gap: { reason, requested },
    snapshot: { ...initialState, cursor: cursorAt(past, after) },
  };
}

/** The place behind the last conversation, from which a reader waits for the next. */
function behind(past: ReadableLog | null): ReaderStart {
  return { log: past, after: past?.head ?? 0, resume: 'new' };
}

/** The cursor of a place in a log; null if there is no log. */
export function cursorAt(log: ReadableLog | null, seq: number): string | null {
  return log && formatCursor(log.ref.epoch, log.termAt(seq), seq);
}
