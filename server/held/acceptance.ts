import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { lastMessage } from '../../shared/last-message.js';
import { type Message, withoutPlace } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import { userScope } from '../auth/scope.js';
import type { LogView } from '../log/log-view.js';
import { outcomesOf } from '../log/outcome.js';
import { asUnavailable, unavailable } from '../log/unavailable.js';
import { placing, wholeTo } from '../read-places/read-place.js';
import { endDrafts, isOpen } from '../runs/ending.js';
import { LiveRun, type RunRequest } from '../runs/live-run.js';
import { StoreError } from '../stores/append.js';
import type { RecordChange } from '../stores/records.js';
import { storeTime } from '../stores/skew.js';
import type { RunRecord } from '../stores/stored.js';
import type { HeldSession } from './held-session.js';
import { assertNewIds, assertNotKept } from './message-ids.js';
import { answered, type Goal, isThere, Move, Outdated, type Place, parentAt, tipAt } from './moves.js';
import { toNewRun } from './run-record.js';

/** An accepted message, or the run that the same key started before. */
export type AcceptedRun =
  | {
      /** Number of runs before it. */
      readonly position: number;
      /** Place just before `message_accepted`. */
      readonly cursor: string;
      /** The accepted message, if it differs from the sent one. */
      readonly message?: Message;
    }
  | { readonly duplicate: RunRecord };

/** The place that a message is to take in the conversation. */
export interface AskedPlace {
  /** The place, unless it is behind the last message, and the user who chose it. Runs that are active or queued end in the same append. */
  readonly at?: (Place & { readonly by: string }) | undefined;
  /** Id of the message that must be the last one (see `lastMessage`). @default any */
  readonly behind?: string | null | undefined;
}

/**
 * Accepts a message as a new run.
 *
 * @throws GatewayError `SESSION_BUSY`, `QUEUE_FULL`, `SESSION_CLOSED`, `MESSAGE_NOT_FOUND`, `HISTORY_MOVED`, `OVERLOADED` if the store
 * can't take it.
 */
export async function accept(
  held: HeldSession,
  request: RunRequest,
  { at, behind }: AskedPlace = {},
): Promise<AcceptedRun> {
  if (request.lane) return acceptBeside(held, request);
  const { run, tip, control } = held.log.state;
  // A message behind the answer that is being written waits for that answer. While a person has control, it comes last.
  const behindAnswer = at && 'parent' in at && at.parent === (control ? tip : run?.message.id);
  if (!at || behindAnswer) return acceptAt(held, request, { behind });
  if (request.onBusy === 'reject') held.runs.queue.check('reject');
  const moved = { ...request, onBusy: 'interrupt' } as const;
  return moving(
    held,
    at.by,
    (view) => parentAt(view, at),
    (move) => acceptAt(held, moved, { move, behind }),
  );
}

/**
 * Answers a message again, as a new run. Runs that are active or queued end in the same append.
 *
 * @param messageId Id of that message, or of an answer to it. @default the last one that is no answer
 * @throws GatewayError as `accept`
 */
export async function regenerate(
  held: HeldSession,
  request: Omit<RunRequest, 'message' | 'preceding' | 'onBusy'>,
  { messageId, by }: { readonly messageId: string | undefined; readonly by: string },
): Promise<AcceptedRun & { readonly message: Message }> {
  let message!: Message;
  const find = async (view: LogView): Promise<string> => {
    message = withoutPlace(await answered(view, messageId));
    return message.id;
  };
  const accepted = await moving(held, by, find, (move) =>
    acceptAt(held, { ...request, message, preceding: [], onBusy: 'interrupt' }, { move }),
  );
  return { ...accepted, message };
}

/**
 * Moves the end of the conversation to another message, or to the latest version behind one. Runs that are active or queued end in the same
 * append.
 *
 * @throws GatewayError `MESSAGE_NOT_FOUND`, `SESSION_CLOSED`, `OVERLOADED` if the store can't take it
 */
export async function move(held: HeldSession, goal: Goal, by: string): Promise<HistoryPlace> {
  const { runs } = held;
  const { view } = held.log;
  if (await asUnavailable(() => isThere(view, goal))) {
    const { run, tip } = view.state;
    return { tip: run?.message.id ?? tip, cursor: view.cursor };
  }
  return moving(
    held,
    by,
    () => tipAt(view, goal),
    async (move) => {
      const { last } = await runs.endWith([...runs.queue.all()].reverse(), {
        ending: { stopReason: 'superseded' },
        concerns: (state, run) => isOpen(state, run.id),
        cause: (_state, ends) => move.drafts(view, ends),
        options: { refusable: true },
      });
      runs.advance();
      return { tip: move.tip, cursor: view.cursorAt(last) };
    },
  );
}

/** Plans a move and works with it. Plans again if the conversation changed before the move was stored. */
async function moving<Outcome>(
  held: HeldSession,
  by: string,
  find: (view: LogView) => Promise<string | null>,
  work: (move: Move) => Promise<Outcome>,
): Promise<Outcome> {
  const { view } = held.log;
  for (;;) {
    try {
      return await work(await asUnavailable(() => Move.plan(view, by, () => find(view))));
    } catch (error) {
      if (!(error instanceof Outdated)) throw error instanceof StoreError ? unavailable(error) : error;
    }
  }
}

/** @throws GatewayError `HISTORY_MOVED` if the last message is not the expected one */
export function assertBehind(state: SessionState, behind: string | null | undefined): void {
  const last = lastMessage(state);
  if (behind === undefined || behind === last) return;
  const message = 'Another message is the last one now; read the conversation before you send again';
  const details = { messageId: behind, tip: state.tip, last };
  throw new GatewayError({ code: 'HISTORY_MOVED', message, details });
}

/** Resolves once no message is on its way to the store, so that the last message is known. */
async function othersAccepted({ log, runs }: HeldSession): Promise<void> {
  while (runs.queue.all().some(({ state }) => state === 'accepting')) await log.settled();
}

/** Events and records that are stored with a message that nobody sent. */
export interface Cause {
  /** Events that come before `message_accepted`. */
  readonly drafts: (runId: string, state: SessionState) => readonly EventDraft[];
  readonly records: readonly RecordChange[];
  /** Id of the message that must be the last one (see `lastMessage`). @default any */
  readonly behind?: string;
  /** Whether the message gives control back to the app. @default false */
  readonly handsBack?: boolean;
}

/** A record changed before the message that depends on it was accepted. Nothing was stored. */
export class StaleRecord extends Error {}

/**
 * Accepts a message in one append with the events and records that cause it.
 *
 * @throws StaleRecord
 * @throws GatewayError as `accept`
 */
export function acceptWith(held: HeldSession, request: RunRequest, cause: Cause): Promise<AcceptedRun> {
  return acceptAt(held, request, { cause, behind: cause.behind });
}

/** Accepts a message as a run in a lane of its own, which waits for no other. */
async function acceptBeside(held: HeldSession, request: RunRequest): Promise<AcceptedRun> {
  const { log, runs } = held;
  const asked = assertNotKept(request, log);
  if (asked) await asked;
  assertNewIds(request, log.view, runs.all());
  const accepted = await runs.lanes.accept(request);
  if ('duplicate' in accepted) return accepted;
  return { position: 0, cursor: log.view.cursorAt(accepted.place - 1) };
}

/** The sender's read place, just behind the message. @param count Events of the append up to that message */
function readBy({ store, log }: HeldSession, { user }: RunRequest, count: number): readonly RecordChange[] {
  if (!user) return [];
  const { ref, term, view, arrivals } = log;
  const place = { epoch: ref.epoch, term, seq: view.head + count };
  return [placing(userScope(user), wholeTo(place, arrivals, storeTime(store)))];
}

/** A message that was sent while a person has control. It stays in the conversation, and its run ends without an answer. */
interface KeptMessage {
  readonly message: Message;
  readonly preceding: readonly Message[];
  readonly end: EventDraft;
  /** The person who has control. */
  readonly details: { readonly by: string };
}

/** The message to keep if a person has control; null if the app has it. A message of the person in control is kept as an answer. */
function keptMessage(run: LiveRun, state: SessionState): KeptMessage | null {
  if (!state.control) return null;
  const { by } = state.control;
  const { message, preceding, user } = run.request;
  const [end] = endDrafts(run, { stopReason: 'taken_over' }, state);
  const kept = { end: end!, details: { by } };
  if (user?.id !== by) return { message, preceding, ...kept };
  const said = (own: Message): Message =>
    own.role === 'user' ? { ...own, role: 'assistant', senderId: by, author: 'operator' } : own;
  return { message: said(message), preceding: preceding.map(said), ...kept };
}

async function acceptAt(
  held: HeldSession,
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
  const { log, runs } = held;
  const { queue } = runs;
  const { metadata, onBusy, key } = request;
  if (expected !== undefined) await othersAccepted(held);
  const asked = assertNotKept(request, log);
  if (asked) await asked;
  // Check this first: a move that is outdated must be planned again, even if something else is wrong too.
  assertBehind(log.state, expected);
  assertNewIds(request, log.view, runs.all());
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
  /** Set while a person has control: the message is kept, and its run ends in the same append. */
  let kept: KeptMessage | null = null;
  try {
    // The run starts in the same append if no other run is active then.
    const drafts = (state: SessionState, ends: readonly EventDraft[] = []): readonly EventDraft[] => {
      assertBehind(state, expected);
      kept = cause?.handsBack ? null : keptMessage(run, state);
      if (kept && (move || cause)) throw new GatewayError({ code: 'TAKEN_OVER', details: kept.details });
      const moved = move?.drafts(log.view, ends) ?? cause?.drafts(run.id, state) ?? [];
      behind = ends.length + moved.length;
      const idle = !state.run || ends.length > 0;
      starts = idle && (interrupts || state.queue.length === 0) && held.mayStart;
      if (kept) return [...moved, acceptedAt(0, kept), kept.end];
      if (!interrupts) position = queue.before(run, state);
      return [...moved, acceptedAt(position, request), ...(starts ? runs.startOf(run) : [])];
    };
    const acknowledged = (): void => {
      // The run may have ended before the store answered.
      starts &&= run.state !== 'ended' && !kept;
      if (starts) runs.activate(run);
      if (kept) runs.withdraw(run);
    };
    const options = {
      ...{ opens: toNewRun(request), refusable: true },
      // A sender has read the conversation up to this message.
      records: cause?.records ?? ((): readonly RecordChange[] => readBy(held, request, behind + 1)),
    };
    // The superseded runs end in the same append, or not at all.
    const committed = interrupts
      ? await runs.endWith(move ? queue.others(run) : queue.mayRun(), {
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
  if (starts) runs.letBegin(run);
  runs.advance();
  return { position, cursor: log.view.cursorAt(acceptedAfter) };
}
