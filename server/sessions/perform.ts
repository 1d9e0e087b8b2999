import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { initialState } from '../../shared/fold.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { type AcceptedRun, accept, move, regenerate } from '../held/acceptance.js';
import { assertBehind } from '../held/acceptance-plan.js';
import { append } from '../held/appending.js';
import { tellEnd } from '../held/child-ends.js';
import { handBack, releaseControl, takeOver } from '../held/control.js';
import { addGrant, endGrant } from '../held/granting.js';
import type { HeldSession } from '../held/held-session.js';
import { expire, vote } from '../held/session-approvals.js';
import { steer } from '../held/steering.js';
import { wake } from '../held/waking.js';
import { asUnavailable } from '../log/unavailable.js';
import type { RunRequest } from '../runs/live-run.js';
import type { Beginning } from './acquisition.js';
import type { Session } from './session.js';
import type { OutputOf, SessionInput, SessionWork } from './session-work.js';

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
  if (input.type !== 'delete') return performTaken(session, input, from);
  return session.added.erasing(session.ref).then(() => performTaken(session, input, from));
}

function performTaken<Input extends SessionInput>(
  session: Session,
  input: Input,
  from?: string,
): MaybePromise<OutputOf<Input>> {
  let begun = false;
  const beginning = createdBy(session, input, () => {
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
    const { via } = input;
    // An end of a grant waits for the other work by grants.
    if (via === undefined || input.type === 'unshare') return work(session, held, input);
    return held.grants.during(via, () => work(session, held, input));
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

/** A kind of work that a feature adds. */
export interface Worker<Type extends keyof SessionWork> {
  /** Given if the work begins a session that does not exist. */
  begins?(input: SessionWork[Type]['input']): Beginning;
  does(held: HeldSession, input: SessionWork[Type]['input']): MaybePromise<SessionWork[Type]['output']>;
}

/** The work that features add. */
export type Workers = { readonly [Type in keyof SessionWork]?: Worker<Type> };

function end(session: Session, input: SessionInput & { readonly type: 'close' | 'delete' }): Promise<void> {
  return input.type === 'close' ? session.close(input.reason) : session.delete();
}

type Work = Exclude<SessionInput, { readonly type: 'delete' }>;

function work(session: Session, held: HeldSession, input: Work): MaybePromise<unknown> {
  const { publisher, runs } = held;
  switch (input.type) {
    case 'accept':
      return once(held, input.request, () => accept(held, input.request, input));
    case 'append':
      return append(held, input);
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
    case 'wake':
      return wake(held, input);
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
    default:
      return session.added.workers[input.type]!.does(held, input as never);
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
function createdBy(session: Session, input: SessionInput, begun: () => void): Beginning | undefined {
  // A grant is one of a conversation that is there.
  if (input.via !== undefined) return undefined;
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
  if (input.type === 'append') return { userId: input.by };
  if (input.type === 'ask') return input.begins ? { userId: input.userId } : undefined;
  // Past conversations are dropped with one that begins behind them.
  if (input.type === 'delete') return input.past ? { userId: undefined, begun } : undefined;
  if (input.type === 'publish' || input.type === 'custom') return { userId: input.userId };
  return session.added.workers[input.type]?.begins?.(input as never);
}
