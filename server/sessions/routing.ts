import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { HeldElsewhere } from '../cluster/held-elsewhere.js';
import type { AcceptedRun } from '../held/acceptance.js';
import { newRequestId } from '../ids.js';
import { unanswered } from '../log/unavailable.js';
import { originOf } from './find-run.js';
import { performHere } from './perform.js';
import type { Session } from './session.js';
import type { OutputOf, SessionInput } from './session-work.js';

/** Time within which a holder must be found that answers, in milliseconds. */
const ROUTE_MS = 15_000;
/** Delay before work is tried again after a holder lives but was silent, or had let go; in milliseconds, up to twice as much. */
const AGAIN_MS = 40;
const UNANSWERED = 'The gateway that holds the session did not answer';
/** Codes of errors that say that nothing was done. */
const NOT_DONE: ReadonlySet<string> = new Set(['OVERLOADED', 'SHUTTING_DOWN']);
/** Kinds of work after which the session is gone. */
const ENDS: ReadonlySet<SessionInput['type']> = new Set(['close', 'delete']);

/**
 * Does a piece of work in a session. Works here if this gateway or nobody holds the session, and in the same tick if it is held already.
 * Otherwise asks the holder. The only way in for work, at every door.
 *
 * @throws GatewayError `SESSION_NOT_FOUND` if there is none and the work does not begin one; `OVERLOADED` if the holder did not answer; and
 * errors of the work itself
 */
export function perform<Input extends SessionInput>(
  session: Session,
  input: Input,
): MaybePromise<OutputOf<Input>> {
  if (session.life.mayWork) {
    return confirmed(session, input, () => perform(session, input)) as MaybePromise<OutputOf<Input>>;
  }
  const routed = (error: unknown): MaybePromise<OutputOf<Input>> => {
    if (!(error instanceof HeldElsewhere)) throw error;
    return route(session, input, error.holder) as Promise<OutputOf<Input>>;
  };
  try {
    const done = performHere(session, input);
    return isPromise(done) ? done.catch(routed) : done;
  } catch (error) {
    return routed(error);
  }
}

/**
 * Does work in a session that is held here. A refusal rests on what is remembered here, and another gateway may have taken the session
 * unnoticed. So the store is asked before a refusal is passed on.
 *
 * @param elsewhere Does the work at the gateway that holds the session now
 */
function confirmed(
  session: Session,
  input: SessionInput,
  elsewhere: () => MaybePromise<unknown>,
): MaybePromise<unknown> {
  const { held } = session;
  const check = async (): Promise<boolean> => {
    await session.refresh();
    return session.held === held;
  };
  const refused = async (error: unknown): Promise<unknown> => {
    // `OVERLOADED` does not depend on the holder: the caller asks again.
    if (isGatewayError(error) && error.code !== 'OVERLOADED' && !(await check())) return elsewhere();
    throw error;
  };
  const told = (output: unknown): MaybePromise<unknown> => {
    if (input.type !== 'abort' || output !== false) return output;
    return check().then((isHeld) => (isHeld ? output : elsewhere()));
  };
  try {
    const done: MaybePromise<unknown> = performHere(session, input);
    return isPromise(done) ? done.then(told, refused) : told(done);
  } catch (error) {
    return refused(error);
  }
}

async function route(session: Session, given: SessionInput, heldBy: string): Promise<unknown> {
  const { cluster } = session;
  const until = performance.now() + ROUTE_MS;
  const id = 'request' in given ? given.request.runId : newRequestId();
  const input = await settled(session, given, id);
  if (!input) return false;
  const question = { id, ref: session.ref, input };
  // Set once a holder may have received the work without answering. Nobody knows whether it is done.
  let isDoubtful = false;
  try {
    for (let holder = heldBy; performance.now() < until; ) {
      const reply = await cluster.ask(holder, question);
      if (reply.kind === 'done') return await outcome(session, input, reply.output);
      isDoubtful ||= reply.kind === 'silent';
      const dead = reply.kind !== 'not-held' && !(await cluster.alive(holder));
      if (!dead) await delay(AGAIN_MS * (1 + Math.random()));
      try {
        const done = await performHere(session, input, dead ? holder : undefined);
        return await outcome(session, input, done);
      } catch (error) {
        if (!(error instanceof HeldElsewhere)) throw error;
        holder = error.holder;
      }
    }
    throw new GatewayError({ code: 'OVERLOADED', message: UNANSWERED, retryAfterMs: 1000 });
  } catch (error) {
    if (!isDoubtful || !isGatewayError(error)) throw error;
    // The silent holder has ended the session, as it was asked to.
    if (error.code === 'SESSION_NOT_FOUND' && ENDS.has(input.type)) return undefined;
    throw NOT_DONE.has(error.code) ? unanswered(error) : error;
  }
}

/**
 * Makes work safe to send more than once, and to more than one holder. "The active run" is resolved to its id here, a run is looked up
 * before it is accepted, and published messages get a name. Null if there is nothing to do.
 */
async function settled(session: Session, input: SessionInput, id: string): Promise<SessionInput | null> {
  if (input.type === 'abort' && input.runId === undefined) {
    const { runId } = (await session.look())?.activity ?? {};
    return runId === undefined ? null : { ...input, runId };
  }
  if (input.type === 'publish' || input.type === 'custom') return { ...input, once: id };
  if (!('request' in input)) return input;
  return { ...input, request: { ...input.request, repeatable: true } } as SessionInput;
}

/** The result for a sender whose run was accepted by an earlier try: the same as if the first try had answered. */
async function outcome(session: Session, input: SessionInput, output: unknown): Promise<unknown> {
  if (!('request' in input) || input.request.key !== undefined) return output;
  const { duplicate } = output as Extract<AcceptedRun, { duplicate: unknown }>;
  if (!duplicate) return output;
  const { position, cursor, message } = await originOf(session.store, session, duplicate);
  return { position, cursor, ...(input.type === 'regenerate' && { message }) };
}

/** Does work for a gateway that was told that this one holds the session, by the store or a former holder. Null if another gateway holds it. */
export async function performAsked(
  session: Session,
  input: SessionInput,
): Promise<{ readonly output: unknown } | null> {
  const elsewhere = (): never => {
    throw new HeldElsewhere('');
  };
  try {
    return {
      output: await (session.life.mayWork
        ? confirmed(session, input, elsewhere)
        : performHere(session, input)),
    };
  } catch (error) {
    // The session was lost, or let go, meanwhile.
    if (error instanceof HeldElsewhere) return null;
    throw error;
  }
}
