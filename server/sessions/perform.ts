import type { Control } from '../../shared/control.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { EventDraft, SessionChanges } from '../../shared/events.js';
import { initialState } from '../../shared/fold.js';
import type { Grant } from '../../shared/grants.js';
import type { Message } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import type { Schedule } from '../../shared/schedules.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import {
  type AcceptedRun,
  type AskedPlace,
  accept,
  assertBehind,
  move,
  regenerate,
} from '../held/acceptance.js';
import { type DueEnd, tellEnd } from '../held/child-ends.js';
import {
  type DueControl,
  type HandBackRequest,
  handBack,
  releaseControl,
  type TakeOverRequest,
  takeOver,
} from '../held/control.js';
import { addGrant, type EndedGrant, endGrant, type NewGrant } from '../held/granting.js';
import type { HeldSession } from '../held/held-session.js';
import type { Goal } from '../held/moves.js';
import { type ReactRequest, react } from '../held/reacting.js';
import {
  type DueSchedule,
  fireSchedule,
  type NewSchedule,
  setSchedule,
  unsetSchedule,
} from '../held/scheduling.js';
import { type DueQuestion, expire, vote } from '../held/session-approvals.js';
import { steer } from '../held/steering.js';
import { type Woken, wake } from '../held/waking.js';
import { asUnavailable } from '../log/unavailable.js';
import type { Ballot } from '../runs/approvals.js';
import type { RunRequest } from '../runs/live-run.js';
import type { Answer } from '../runs/questions.js';
import type { NewSession } from '../stores/store.js';
import type { Beginning } from './acquisition.js';
import type { FirstContent } from './first-content.js';
import type { Session } from './session.js';
import type { LoneQuestion, Withdrawn } from './session-calls.js';

/** The work that a session can be asked to do, with its result. All plain values, because the holder of the session may be another process. */
export interface SessionWork {
  /** Accepts a message and answers it. Begins a session that does not exist. */
  accept: {
    readonly input: { readonly request: RunRequest } & AskedPlace;
    readonly output: AcceptedRun;
  };
  /** Begins a session with messages from another system, and the title and metadata given with them. */
  begin: {
    readonly input: {
      readonly userId: string | undefined;
      readonly parts: FirstContent & Pick<NewSession, 'forkedFrom'>;
    };
    readonly output: HistoryPlace;
  };
  /** Answers a message again: the named one, the one of a named answer, or the last one. */
  regenerate: {
    readonly input: {
      readonly request: Omit<RunRequest, 'message' | 'preceding' | 'onBusy'>;
      readonly messageId: string | undefined;
      readonly by: string;
    };
    readonly output: AcceptedRun & { readonly message: Message };
  };
  /** Moves the end of the conversation to another message. */
  move: {
    readonly input: { readonly goal: Goal; readonly by: string };
    readonly output: HistoryPlace;
  };
  /** Ends a run, or the active one. False if there is none to end. */
  abort: {
    readonly input: { readonly runId?: string | undefined; readonly reason?: string | undefined };
    readonly output: boolean;
  };
  /** Sends a message to a run beside the conversation. */
  steer: { readonly input: { readonly runId: string; readonly message: Message }; readonly output: void };
  /** Answers a confirmation, a question or a client tool's call. */
  respond: { readonly input: { readonly callId: string; readonly answer: Answer }; readonly output: void };
  /** Logs a vote for a tool call that belongs to no run. Null if more votes are needed. */
  vote: { readonly input: Ballot; readonly output: Answer | null };
  /** Decides a question whose time is over, or escalates it to more people. */
  expire: { readonly input: DueQuestion; readonly output: void };
  /** Tells that the last viewer at another gateway left. */
  deserted: { readonly input: Readonly<Record<never, never>>; readonly output: void };
  /** Asks the question of a tool call that belongs to no run. Results in its holder; null if nobody would see the question. */
  ask: { readonly input: LoneQuestion; readonly output: string | null };
  /** Returns whether such a call still has an open question, and whether anybody sees it. */
  asks: {
    readonly input: { readonly callId: string };
    readonly output: { readonly watched: boolean } | null;
  };
  /** Logs the answer to such a question. */
  record: { readonly input: { readonly callId: string; readonly event: EventDraft }; readonly output: void };
  /** Takes back the question of such a call. */
  withdraw: { readonly input: Withdrawn; readonly output: void };
  /** Changes the title, metadata or archived mark of the session. */
  update: {
    readonly input: { readonly changes: SessionChanges; readonly by: string };
    readonly output: void;
  };
  /** Sets a schedule. Begins a session that does not exist. */
  schedule: { readonly input: NewSchedule; readonly output: Schedule };
  /** Takes a schedule back, if there is one. */
  unschedule: { readonly input: { readonly id: string; readonly by: string }; readonly output: void };
  /** Grants another person access to the session. */
  share: { readonly input: NewGrant; readonly output: Omit<Grant, 'sessionId'> };
  /** Ends a grant. Returns whether there was one. */
  unshare: { readonly input: EndedGrant; readonly output: boolean };
  /** Gives a person control. */
  'take-over': { readonly input: TakeOverRequest; readonly output: Control };
  /** Gives control back to the app. */
  'hand-back': { readonly input: HandBackRequest; readonly output: { readonly runId?: string } };
  /** Returns control to the app when a person's time is over. */
  'release-control': { readonly input: DueControl; readonly output: void };
  /** Logs a person's reaction to a message. */
  react: { readonly input: ReactRequest; readonly output: void };
  /** Resumes a run that was parked. */
  wake: { readonly input: Woken; readonly output: void };
  /** Fires a schedule that is due. */
  fire: { readonly input: DueSchedule; readonly output: void };
  /** Begins the run of the session's app that the end of a child asks for. */
  'child-end': { readonly input: DueEnd; readonly output: void };
  /** Ends the conversation. */
  close: { readonly input: { readonly reason: string }; readonly output: void };
  /** Ends the conversation and drops everything that is kept of the session. `past`: also where there are only past conversations. */
  delete: { readonly input: { readonly past: boolean }; readonly output: void };
  /** Publishes on a channel. Begins a session that does not exist. */
  publish: {
    readonly input: {
      readonly channel: string;
      readonly event: string;
      readonly payload: unknown;
      /** Whether the caller waits until the message is stored, and can be refused. */
      readonly stored: boolean;
      readonly userId: string | undefined;
      /** Names the work if it may be asked for again: it is then stored, and done once. */
      readonly once?: string;
    };
    readonly output: void;
  };
  /** Emits a custom event. Begins a session that does not exist. */
  custom: {
    readonly input: {
      readonly name: string;
      readonly payload: unknown;
      readonly userId: string | undefined;
      /** Names the work if it may be asked for again: it is then stored, and done once. */
      readonly once?: string;
    };
    readonly output: void;
  };
}

/** One piece of work for a session. */
export type SessionInput = {
  [Type in keyof SessionWork]: { readonly type: Type } & SessionWork[Type]['input'];
}[keyof SessionWork];

/** The result of a piece of work. */
export type OutputOf<Input extends SessionInput> = SessionWork[Input['type']]['output'];

/**
 * Does a piece of work in a session, which is taken for it. The work is done in the same tick if the session is held already.
 *
 * @param from A dead holder that the session may be taken from
 * @throws HeldElsewhere
 * @throws GatewayError `SESSION_NOT_FOUND` if there is none and the work does not begin one, and errors of the work itself
 */
export function performHere<Input extends SessionInput>(
  session: Session,
  input: Input,
  from?: string,
): MaybePromise<OutputOf<Input>> {
  let begun = false;
  const beginning = createdBy(input, () => {
    begun = true;
  });
  const taking = { from, toEnd: input.type === 'delete' };
  const done = andThen(session.take(beginning, taking), (held): MaybePromise<unknown> => {
    if (!held) {
      // A second close waits for the one in progress.
      if (session.hold.closing && (input.type === 'close' || input.type === 'delete'))
        return end(session, input);
      if (input.type === 'accept') assertBehind(initialState, input.behind);
      throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
    }
    if (input.type === 'begin' && !begun) return beginAgain(session, held, input);
    if (input.type === 'delete') return session.delete(!begun);
    return work(session, held, input);
  });
  return done as MaybePromise<OutputOf<Input>>;
}

/** Gives a session that was begun before its first content, if it has none. */
async function beginAgain(
  session: Session,
  { log }: HeldSession,
  input: SessionInput & { readonly type: 'begin' },
): Promise<SessionWork['begin']['output']> {
  if (log.view.head > 0 || log.pending) throw new GatewayError({ code: 'SESSION_EXISTS' });
  await session.hold.letGo();
  return performHere(session, input);
}

function end(session: Session, input: SessionInput & { readonly type: 'close' | 'delete' }): Promise<void> {
  return input.type === 'close' ? session.close(input.reason) : session.delete();
}

type Work = Exclude<SessionInput, { readonly type: 'delete' }>;

function work(session: Session, held: HeldSession, input: Work): MaybePromise<unknown> {
  const { publisher, runs } = held;
  switch (input.type) {
    case 'accept':
      return once(held, input.request, () => accept(held, input.request, input));
    case 'begin': {
      const { view } = held.log;
      return { tip: view.state.tip, cursor: view.cursor };
    }
    case 'regenerate':
      return once(held, input.request, () => regenerate(held, input.request, input));
    case 'move':
      return move(held, input.goal, input.by);
    case 'abort':
      return runs.abort(input.runId, input.reason);
    case 'steer':
      return steer(held, input.runId, input.message);
    case 'respond':
      return runs.respond(input.callId, input.answer);
    case 'vote':
      return vote(held, input);
    case 'expire':
      return expire(held, input);
    case 'deserted':
      return session.viewers.leftElsewhere();
    case 'ask':
      return session.calls.ask(input);
    case 'asks':
      return session.calls.asks(input.callId);
    case 'record':
      return session.calls.record(input.callId, input.event);
    case 'withdraw':
      return session.calls.withdraw(input);
    case 'update':
      return publisher.update(input.changes, input.by);
    case 'schedule':
      return setSchedule(held, input);
    case 'unschedule':
      return unsetSchedule(held, input.id, input.by);
    case 'share':
      return addGrant(held, input);
    case 'unshare':
      return endGrant(held, input);
    case 'take-over':
      return takeOver(held, input);
    case 'hand-back':
      return handBack(held, input);
    case 'release-control':
      return releaseControl(held, input);
    case 'react':
      return react(held, input);
    case 'wake':
      return wake(held, input);
    case 'fire':
      return fireSchedule(held, input);
    case 'child-end':
      return tellEnd(held, input);
    case 'close':
      return session.close(input.reason);
    case 'publish': {
      const { channel, event, payload, once } = input;
      if (input.stored || once !== undefined) return publisher.publishStored(channel, event, payload, once);
      return publisher.publish(channel, event, payload);
    }
    case 'custom': {
      const { name, payload, once } = input;
      if (once !== undefined) return publisher.emitStored(name, payload, once);
      return publisher.emit(name, payload);
    }
  }
}

/**
 * Accepts a run, or returns the record of the run that the same send began before. Everything that others wrote in a session that is held
 * here is stored, and the store refuses a second run of a key.
 */
function once(
  held: HeldSession,
  request: Pick<RunRequest, 'key' | 'repeatable' | 'runId'>,
  begin: () => Promise<AcceptedRun>,
): Promise<AcceptedRun> {
  return request.key === undefined && !request.repeatable ? begin() : onceNamed(held, request, begin);
}

async function onceNamed(
  { accepting, ref, store }: HeldSession,
  { key, runId }: Pick<RunRequest, 'key' | 'runId'>,
  begin: () => Promise<AcceptedRun>,
): Promise<AcceptedRun> {
  const name = key ?? runId;
  const known = async () => asUnavailable(() => store.run(ref, key === undefined ? { runId } : { key }));
  let mayBeKnown = key === undefined;
  for (let first = accepting.get(name); first; first = accepting.get(name)) {
    await first.catch(() => {});
    mayBeKnown = true;
  }
  const before = mayBeKnown ? await known() : null;
  if (before) return { duplicate: before };
  const accepted = begin().finally(() => accepting.delete(name));
  accepting.set(name, accepted);
  try {
    return await accepted;
  } catch (error) {
    // A send may be refused for what it has added itself the first time.
    const duplicate = isGatewayError(error) && error.code !== 'OVERLOADED' ? await known() : null;
    if (duplicate) return { duplicate };
    throw error;
  }
}

/** The user for whom the work begins a session that does not exist; undefined if the work does not begin one. */
function createdBy(input: SessionInput, begun: () => void): Beginning | undefined {
  if (input.type === 'accept') {
    const { request, at, behind } = input;
    // A message that names another one can't begin a session.
    const names = behind != null || (at && ('replaces' in at || at.parent !== null));
    return names ? undefined : { userId: request.user?.id, runId: request.runId };
  }
  if (input.type === 'begin') {
    const { forkedFrom, ...content } = input.parts;
    return { userId: input.userId, ...(forkedFrom && { forkedFrom }), content, begun };
  }
  if (input.type === 'ask') return input.begins ? { userId: input.userId } : undefined;
  if (input.type === 'schedule') return { userId: input.user.id };
  // Past conversations are dropped with one that begins behind them.
  if (input.type === 'delete') return input.past ? { userId: undefined, begun } : undefined;
  return input.type === 'publish' || input.type === 'custom' ? { userId: input.userId } : undefined;
}
