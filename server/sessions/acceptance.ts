import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { lastMessage } from '../../shared/last-message.js';
import { type Message, withoutPlace } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import { userScope } from '../auth/scope.js';
import type { LogView } from '../log/log-view.js';
import type { LogWriter } from '../log/log-writer.js';
import { outcomesOf } from '../log/outcome.js';
import { asUnavailable, notTried, unavailable } from '../log/unavailable.js';
import { placing, wholeTo } from '../read-places/read-place.js';
import { LiveRun, type RunRequest } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import { type RunRecord, StoreError } from '../stores/store.js';
import { type KeptMessage, keptMessage } from './kept-message.js';
import { assertNewIds, assertNotKept } from './message-ids.js';
import { answered, type Goal, isThere, Move, Outdated, type Place, parentAt, tipAt } from './moves.js';
import { isOpen } from './run-endings.js';
import { toNewRun } from './run-record.js';
import type { Session } from './session.js';
import type { SessionRuns } from './session-runs.js';

/** A message that was accepted, or the run that its key had started before. */
export type AcceptedRun =
  | {
      /** Number of runs before it. */
      readonly position: number;
      /** Place just before `message_accepted`. */
      readonly cursor: string;
      /** As it was accepted, where that is not as it was sent. */
      readonly message?: Message;
    }
  | { readonly duplicate: RunRecord };

/** Where a message is to stand. */
export interface Standing {
  /** Where it does not follow the last one, and who says so: whatever runs or waits by then ends in the same append. */
  readonly at?: (Place & { readonly by: string }) | undefined;
  /** What it has to come behind, as `lastMessage` has it. @default whatever does */
  readonly behind?: string | null | undefined;
}

/**
 * Accepts a message as a new run.
 *
 * @throws GatewayError `SESSION_BUSY`, `QUEUE_FULL`, `SESSION_CLOSED`, `MESSAGE_NOT_FOUND`, `HISTORY_MOVED`, `OVERLOADED` when the store can't take it.
 */
export function accept(
  runs: SessionRuns,
  request: RunRequest,
  { at, behind }: Standing = {},
): Promise<AcceptedRun> {
  const { run, tip, control } = runs.session.writer?.state ?? {};
  // Behind the answer that is being written it has to wait for that; while a person has control it comes last.
  const behindAnswer = at && 'parent' in at && at.parent === (control ? tip : run?.message.id);
  if (!at || behindAnswer) return acceptAt(runs, request, { behind });
  if (request.onBusy === 'reject') runs.queue.check('reject');
  const moved = { ...request, onBusy: 'interrupt' } as const;
  return moving(
    runs,
    at.by,
    (view) => parentAt(view, at),
    (move) => acceptAt(runs, moved, { move, behind }),
  );
}

/**
 * Answers a message again, as a new run. Whatever runs or waits ends in the same append.
 *
 * @param messageId Of that message, or of an answer to it. @default the last one that is no answer
 * @throws GatewayError as `accept`
 */
export async function regenerate(
  runs: SessionRuns,
  request: Omit<RunRequest, 'message' | 'preceding' | 'onBusy'>,
  { messageId, by }: { readonly messageId: string | undefined; readonly by: string },
): Promise<AcceptedRun & { readonly message: Message }> {
  let message!: Message;
  const find = async (view: LogView): Promise<string> => {
    message = withoutPlace(await answered(view, messageId));
    return message.id;
  };
  const accepted = await moving(runs, by, find, (move) =>
    acceptAt(runs, { ...request, message, preceding: [], onBusy: 'interrupt' }, { move }),
  );
  return { ...accepted, message };
}

/**
 * Has the conversation end at another message, or go on from one as it did last. Whatever runs or waits ends in the same append.
 *
 * @throws GatewayError `MESSAGE_NOT_FOUND`, `SESSION_CLOSED`, `OVERLOADED` when the store can't take it
 */
export async function move(runs: SessionRuns, goal: Goal, by: string): Promise<HistoryPlace> {
  const view = runs.session.writer?.view;
  if (view && (await asUnavailable(() => isThere(view, goal)))) {
    const { run, tip } = view.state;
    return { tip: run?.message.id ?? tip, cursor: view.cursor };
  }
  return moving(
    runs,
    by,
    (log) => tipAt(log, goal),
    async (move, log) => {
      const { last } = await runs.endWith(log, [...runs.queue.all()].reverse(), {
        ending: { stopReason: 'superseded' },
        concerns: (state, run) => isOpen(state, run.id),
        cause: (_state, ends) => move.drafts(log.view, ends),
        options: { refusable: true },
      });
      runs.advance();
      return { tip: move.tip, cursor: log.view.cursorAt(last) };
    },
  );
}

/** The writer of a session that was held before the store was asked: it may have been lost since, or a close have begun. */
function writerOf({ writer, closing, holding }: Session): LogWriter {
  if (writer && !closing) return writer;
  if (holding.isLost) throw notTried(new Error('The log was lost'));
  throw new GatewayError({ code: 'SESSION_CLOSED', retryAfterMs: 100 });
}

/** Does something with a move, again where the conversation has changed before that is stored. */
async function moving<Outcome>(
  runs: SessionRuns,
  by: string,
  find: (view: LogView) => Promise<string | null>,
  work: (move: Move, log: LogWriter) => Promise<Outcome>,
): Promise<Outcome> {
  for (;;) {
    const log = writerOf(runs.session);
    try {
      return await work(await asUnavailable(() => Move.plan(log.view, by, () => find(log.view))), log);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error instanceof StoreError ? unavailable(error) : error;
    }
  }
}

/** @throws GatewayError `HISTORY_MOVED` where a message would come behind another one than it has to */
export function assertBehind(state: SessionState, behind: string | null | undefined): void {
  const last = lastMessage(state);
  if (behind === undefined || behind === last) return;
  const message = 'The conversation has gone on meanwhile';
  const details = { messageId: behind, tip: state.tip, last };
  throw new GatewayError({ code: 'HISTORY_MOVED', message, details });
}

/** Resolves once no message is on its way to the store: what comes last is known. */
async function othersAccepted({ queue, session }: SessionRuns): Promise<void> {
  while (session.writer && queue.all().some(({ state }) => state === 'accepting'))
    await session.writer.settled();
}

/** What is stored with a message that nobody sent. */
export interface Cause {
  /** Come before `message_accepted`. */
  readonly drafts: (runId: string, state: SessionState) => readonly EventDraft[];
  readonly records: readonly RecordChange[];
  /** What it has to come behind, as `lastMessage` has it. @default whatever does */
  readonly behind?: string;
  /** Whether the app has control again with it. @default false */
  readonly handsBack?: boolean;
}

/** A record is not the one that was to be changed with a message: nothing was stored. */
export class StaleRecord extends Error {}

/**
 * Accepts a message that comes of something else, in one append with that.
 *
 * @throws StaleRecord
 * @throws GatewayError as `accept`
 */
export function acceptWith(runs: SessionRuns, request: RunRequest, cause: Cause): Promise<AcceptedRun> {
  return acceptAt(runs, request, { cause, behind: cause.behind });
}

/** The read place of whoever sent a message, just behind it. @param count Events up to it, of the append that is being made */
function readBy({ store, writer }: Session, { user }: RunRequest, count: number): readonly RecordChange[] {
  if (!user || !writer) return [];
  const { ref, term, view, arrivals } = writer;
  const place = { epoch: ref.epoch, term, seq: view.head + count };
  return [placing(userScope(user), wholeTo(place, arrivals, storeTime(store)))];
}

async function acceptAt(
  runs: SessionRuns,
  request: RunRequest,
  {
    move,
    behind: expected,
    cause,
  }: {
    readonly move?: Move | undefined;
    readonly behind?: string | null | undefined;
    readonly cause?: Cause;
  },
): Promise<AcceptedRun> {
  const { session, queue } = runs;
  const { metadata, onBusy, key } = request;
  if (expected !== undefined) await othersAccepted(runs);
  const asked = assertNotKept(request, session.writer);
  if (asked) await asked;
  const log = writerOf(session);
  // Whatever else is wrong with it by now: it is to be planned anew.
  assertBehind(log.state, expected);
  assertNewIds(request, log.view, queue.all());
  if (!move) queue.check(onBusy);
  const run = new LiveRun(request);
  queue.add(run);
  const interrupts = onBusy === 'interrupt';
  const acceptedAt = (position: number, said: Pick<RunRequest, 'message' | 'preceding'>): EventDraft => ({
    type: 'message_accepted',
    runId: run.id,
    ts: Date.now(),
    message: said.message,
    ...(said.preceding.length > 0 && { preceding: said.preceding }),
    ...(key !== undefined && { key }),
    onBusy,
    position,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  });
  let position = 0;
  let acceptedAfter = 0;
  let behind = 0;
  let starts = false;
  /** A person has control: it is kept as a message, and its run ends in the same append. */
  let kept: KeptMessage | null = null;
  try {
    // Where nothing else runs then, it starts in the same append.
    const drafts = (state: SessionState, ends: readonly EventDraft[] = []): readonly EventDraft[] => {
      assertBehind(state, expected);
      kept = cause?.handsBack ? null : keptMessage(run, state);
      if (kept && (move || cause)) throw new GatewayError({ code: 'TAKEN_OVER', details: kept.details });
      const moved = move?.drafts(log.view, ends) ?? cause?.drafts(run.id, state) ?? [];
      behind = ends.length + moved.length;
      const idle = !state.run || ends.length > 0;
      starts = idle && (interrupts || state.queue.length === 0) && !runs.held && !session.closing;
      if (kept) return [...moved, acceptedAt(0, kept), kept.end];
      if (!interrupts) position = queue.before(run, state);
      return [...moved, acceptedAt(position, request), ...(starts ? runs.startOf(run) : [])];
    };
    const acknowledged = (): void => {
      // It may have ended while the store had not answered.
      starts &&= run.state !== 'ended' && !kept;
      if (starts) runs.activate(run, log);
      if (kept) runs.withdraw(run);
    };
    const options = {
      ...{ opens: toNewRun(request), refusable: true },
      // What somebody answers was read.
      records: cause?.records ?? ((): readonly RecordChange[] => readBy(session, request, behind + 1)),
    };
    // What it supersedes ends in the same append, or not at all.
    const committed = interrupts
      ? await runs.endWith(log, move ? queue.others(run) : queue.mayRun(), {
          ending: { stopReason: 'superseded' },
          concerns: (state, other) => (move ? isOpen(state, other.id) : state.run?.runId === other.id),
          ...{ cause: drafts, options, acknowledged },
        })
      : await log.commit(drafts, { ...options, ends: [run], acknowledged });
    if (committed.stale) throw new StaleRecord();
    if (committed.duplicate) {
      runs.withdraw(run);
      return { duplicate: committed.duplicate };
    }
    acceptedAfter = committed.first + behind - 1;
  } catch (error) {
    runs.withdraw(run);
    throw error instanceof StoreError ? unavailable(error) : error;
  }
  if (kept) {
    const { message, end } = kept as KeptMessage;
    const outcome = outcomesOf([end]).get(run.id)!;
    const cursor = formatCursor(log.ref.epoch, log.term, acceptedAfter + 2);
    runs.ended(run, { cursor, ...outcome });
    return { position, cursor: log.view.cursorAt(acceptedAfter), message };
  }
  if (run.state === 'accepting') run.state = 'queued';
  if (starts) runs.letBegin(run, log);
  runs.advance();
  return { position, cursor: log.view.cursorAt(acceptedAfter) };
}
