import { formatCursor } from '../../shared/cursor.js';
import { type Message, withoutPlace } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import type { LogView } from '../log/log-view.js';
import { outcomesOf } from '../log/outcome.js';
import { asUnavailable, unavailable } from '../log/unavailable.js';
import { isOpen } from '../runs/ending.js';
import { LiveRun, type RunRequest } from '../runs/live-run.js';
import { StoreError } from '../stores/append.js';
import type { RunRecord } from '../stores/stored.js';
import {
  type AcceptanceOptions,
  type AcceptancePlan,
  assertBehind,
  type Cause,
  planAcceptance,
} from './acceptance-plan.js';
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
      const { committed } = await runs.endWith([...runs.queue.all()].reverse(), {
        ending: { stopReason: 'superseded' },
        concerns: (state, run) => isOpen(state, run.id),
        cause: (_state, ends) => ({ events: move.drafts(view, ends) }),
        options: { refusable: true },
      });
      runs.advance();
      return { tip: move.tip, cursor: view.cursorAt(committed.last) };
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

/** Resolves once no message is on its way to the store, so that the last message is known. */
async function othersAccepted({ log, runs }: HeldSession): Promise<void> {
  while (runs.queue.all().some(({ state }) => state === 'accepting')) await log.settled();
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
  assertTurn(held, request);
  const accepted = await runs.lanes.accept(request);
  if ('duplicate' in accepted) return accepted;
  return { position: 0, cursor: log.view.cursorAt(accepted.place - 1) };
}

/** @throws GatewayError `OVERLOADED` if so many runs of the tenant wait for their turn that no more are accepted */
function assertTurn({ env, ref }: HeldSession, request: RunRequest): void {
  env.slots.check(env.tenancy.ofSender(request, ref.scope));
}

/** Accepts a message in one append with all that comes with it: the ends of runs, a move or a cause before it, the start of its run behind it. */
async function acceptAt(
  held: HeldSession,
  request: RunRequest,
  options: AcceptanceOptions,
): Promise<AcceptedRun> {
  const { log, runs } = held;
  const { queue } = runs;
  const { move, behind } = options;
  if (behind !== undefined) await othersAccepted(held);
  const asked = assertNotKept(request, log);
  if (asked) await asked;
  // Check this first: a move that is outdated must be planned again, even if something else is wrong too.
  assertBehind(log.state, behind);
  assertNewIds(request, log.view, runs.all());
  if (!move) queue.check(request.onBusy);
  assertTurn(held, request);
  const run = new LiveRun(request);
  queue.add(run);
  try {
    const superseded = move ? queue.others(run) : request.onBusy === 'interrupt' ? queue.mayRun() : [];
    const { plan, committed } = await runs.endWith(superseded, {
      ending: { stopReason: 'superseded' },
      accepts: run,
      concerns: (state, other) => (move ? isOpen(state, other.id) : state.run?.runId === other.id),
      cause: (state, ends) => planAcceptance(held, run, options, state, ends),
      options: { opens: toNewRun(request), refusable: true },
      acknowledged: ({ starts, kept }) => {
        if (kept) runs.withdraw(run);
        // The run may have ended before the store answered.
        else if (starts && run.state !== 'ended') runs.activate(run);
      },
    });
    if (committed.stale) throw new StaleRecord();
    if (!committed.duplicate) return accepted(held, run, plan, committed.first + plan.before - 1);
    runs.withdraw(run);
    return { duplicate: committed.duplicate };
  } catch (error) {
    runs.withdraw(run);
    throw error instanceof StoreError ? unavailable(error) : error;
  }
}

/** Goes on with a run whose acceptance is stored. @param after Place just before `message_accepted` */
function accepted(
  { log, runs }: HeldSession,
  run: LiveRun,
  { position, starts, kept }: AcceptancePlan,
  after: number,
): AcceptedRun {
  const cursor = log.view.cursorAt(after);
  if (kept) {
    const outcome = outcomesOf([kept.end]).get(run.id)!;
    runs.ended(run, { cursor: formatCursor(log.ref.epoch, log.term, after + 2), ...outcome });
    return { position, cursor, message: kept.message };
  }
  if (run.state === 'accepting') run.state = 'queued';
  if (starts) runs.letBegin(run);
  runs.advance();
  return { position, cursor };
}
