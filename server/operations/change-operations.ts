import { fieldError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import type { ReadPlaces } from '../inbox/read-places.js';
import { asUnavailable } from '../log/unavailable.js';
import type { OutputOf, SessionInput } from '../sessions/session-work.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';
import { byGrant } from './reach.js';

/** The parts that these operations share with others. */
interface SessionParts extends Pick<OperationParts, 'authorize' | 'room'> {
  readonly places: ReadPlaces;
}

/** The operations that change a session other than by a message: they answer, publish, name, move, copy and end. */
export class ChangeOperations {
  readonly #env: OperationEnvironment;
  readonly #parts: SessionParts;

  constructor(env: OperationEnvironment, parts: SessionParts) {
    this.#env = env;
    this.#parts = parts;
  }

  async abort({ sessionId, runId, reason }: ParamsOf<'abort'>, caller: Caller): Promise<ResultOf<'abort'>> {
    return { aborted: await this.#perform(sessionId, caller, { type: 'abort', runId, reason }) };
  }

  async close({ sessionId }: ParamsOf<'close'>, caller: Caller): Promise<ResultOf<'close'>> {
    await this.#perform(sessionId, caller, { type: 'close', reason: 'closed' });
    return { ok: true };
  }

  /** Closes a session and drops everything that is kept of it. Does nothing if the session has not begun. @throws GatewayError */
  async discard(sessionId: string, caller: Caller): Promise<void> {
    const { ref } = await this.#parts.authorize(sessionId, 'close', caller);
    await asUnavailable(() => this.#env.sessions.discard(ref));
  }

  async delete({ sessionId }: ParamsOf<'delete'>, caller: Caller): Promise<ResultOf<'delete'>> {
    const { ref } = await this.#parts.authorize(sessionId, 'delete', caller);
    await this.#env.sessions.delete(ref);
    return { ok: true };
  }

  /** Answers an open question of a run. */
  async respond(params: ParamsOf<'tool-response'>, caller: Caller): Promise<ResultOf<'tool-response'>> {
    const { sessionId, callId, ...answer } = params;
    const { user, guest } = caller.identity;
    const { id: by, roles } = user;
    const reach = await this.#parts.authorize(sessionId, 'tool-response', caller);
    const { ref } = reach;
    const answered = { callId, answer: { ...answer, by, givenBy: guest?.givenBy, roles }, ...byGrant(reach) };
    await this.#env.sessions.perform(ref, { type: 'respond', ...answered });
    // An answer implies that the user has read the session. A read place that can't be stored now is stored with the next one.
    await this.#parts.places
      .reach(ref, caller.identity.userKey)
      .then(() => this.#env.inboxChanges.changed(ref, false))
      .catch((error: unknown) => this.#env.report(error, 'keeping a read place'));
    return { ok: true };
  }

  /** Publishes a message on a channel of a session. */
  async publish(params: ParamsOf<'channel'>, caller: Caller): Promise<ResultOf<'channel'>> {
    const { sessionId, channel, type = 'message', payload } = params;
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    const reach = await this.#parts.authorize(sessionId, 'channel', caller);
    const { ref } = reach;
    await this.#parts.room.check(ref);
    const published = { channel, event: type, payload: payload ?? null, userId: caller.identity.user.id };
    await this.#env.sessions.perform(ref, { type: 'publish', ...published, stored: true, ...byGrant(reach) });
    return { ok: true };
  }

  async update(params: ParamsOf<'update'>, caller: Caller): Promise<ResultOf<'update'>> {
    const { sessionId, ...changes } = params;
    if (!this.#env.calls.isServing) assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    const reach = await this.#parts.authorize(sessionId, 'update', caller);
    await this.#parts.room.check(reach.ref);
    const by = caller.identity.user.id;
    await this.#env.sessions.perform(reach.ref, { type: 'update', changes, by, ...byGrant(reach) });
    return { ok: true };
  }

  async move({ sessionId, tip, version }: ParamsOf<'move'>, caller: Caller): Promise<ResultOf<'move'>> {
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    const goal = version === undefined ? { tip: tip! } : { version };
    return this.#perform(sessionId, caller, { type: 'move', goal, by: caller.identity.user.id });
  }

  async fork({ sessionId, to, at }: ParamsOf<'fork'>, caller: Caller): Promise<ResultOf<'fork'>> {
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    const { ref: source } = await this.#parts.authorize(sessionId, 'fork', caller);
    const { ref } = await this.#parts.authorize(to, 'fork', caller);
    if (ref.app !== source.app) {
      throw fieldError('to', 'must be a session of the same app');
    }
    await this.#parts.room.check(ref);
    const { id, ...place } = await this.#env.sessions.beginnings.fork(source, ref, {
      at,
      userId: caller.identity.user.id,
    });
    return { sessionId: id, ...place };
  }

  /** Authorizes and performs an operation of the same name as its session input. */
  async #perform<Input extends Extract<SessionInput, { readonly type: OperationName }>>(
    sessionId: string,
    caller: Caller,
    input: Input,
  ): Promise<OutputOf<Input>> {
    const reach = await this.#parts.authorize(sessionId, input.type, caller);
    return this.#env.sessions.perform(reach.ref, { ...input, ...byGrant(reach) });
  }
}
