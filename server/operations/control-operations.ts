import { fieldError } from '../../shared/errors.js';
import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { Limits } from '../config/limits.js';
import { newRunId } from '../ids.js';
import { storeTime } from '../stores/skew.js';
import type { Caller } from './caller.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';
import { byGrant, type Reach } from './reach.js';

/** Bounds of the operations of this file. */
export type PeopleLimits = Pick<Limits, 'noteLength' | 'reactionsPerMessage'>;

/** The operations by which users take over from an app, hand back, and react to messages. */
export class ControlOperations {
  readonly #env: OperationEnvironment;
  readonly #parts: Pick<OperationParts, 'authorize' | 'room'>;

  constructor(env: OperationEnvironment, parts: Pick<OperationParts, 'authorize' | 'room'>) {
    this.#env = env;
    this.#parts = parts;
  }

  /** @throws GatewayError `CONTROL_TAKEN` naming the holder, `INVALID_PARAMS` naming the field, and the errors of authorization */
  async takeOver(params: ParamsOf<'take-over'>, caller: Caller): Promise<ResultOf<'take-over'>> {
    const { sessionId, reason, untilMs } = params;
    const reach = await this.#admit('take-over', sessionId, { reason }, caller);
    const until = untilMs === undefined ? undefined : storeTime(this.#env.store) + untilMs;
    const taking = { by: caller.identity.user.id, reason, until };
    const input = { type: 'take-over', ...taking, ...byGrant(reach) } as const;
    return { control: await this.#env.sessions.perform(reach.ref, input) };
  }

  /** @throws GatewayError like `takeOver` */
  async handBack(params: ParamsOf<'hand-back'>, caller: Caller): Promise<ResultOf<'hand-back'>> {
    const { sessionId, note, answer = false } = params;
    const reach = await this.#admit('hand-back', sessionId, { note }, caller);
    const { user, userKey } = caller.identity;
    const owns = caller.trusted === true || reach.ref.scope === userKey;
    const runId = newRunId();
    const given = { user, note, answer, runId, owns, ...byGrant(reach) };
    return this.#env.sessions.perform(reach.ref, { type: 'hand-back', ...given });
  }

  /** @throws GatewayError `MESSAGE_NOT_FOUND`, `INVALID_PARAMS` naming the field, `QUOTA_EXCEEDED`, and the errors of authorization */
  async react(params: ParamsOf<'react'>, caller: Caller): Promise<ResultOf<'react'>> {
    const { sessionId, messageId, value, comment } = params;
    if (value === null && comment !== undefined) throw fieldError('comment', 'needs a value beside it');
    const reach = await this.#admit('react', sessionId, { comment }, caller);
    const by = caller.identity.user.id;
    const reaction = { messageId, by, value, ...(comment !== undefined && { comment }) };
    const { reactionsPerMessage: most } = this.#env.people;
    await this.#env.sessions.perform(reach.ref, { type: 'react', reaction, most, ...byGrant(reach) });
    return { ok: true };
  }

  async #admit(
    operation: 'take-over' | 'hand-back' | 'react',
    sessionId: string,
    said: Readonly<Record<string, string | undefined>>,
    caller: Caller,
  ): Promise<Reach> {
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.identity);
    checkNotes(said, this.#env.people);
    const reach = await this.#parts.authorize(sessionId, operation, caller);
    await this.#parts.room.check(reach.ref);
    return reach;
  }
}

/** @throws GatewayError `INVALID_PARAMS` naming the field that is too long */
function checkNotes(
  said: Readonly<Record<string, string | undefined>>,
  { noteLength: most }: PeopleLimits,
): void {
  for (const [field, text = ''] of Object.entries(said))
    if (text.length > most)
      throw fieldError(field, `must have at most ${most} characters (limits.noteLength)`);
}
