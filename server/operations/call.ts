import type { ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { OperationName, RunOperation, StreamedOperation } from '../../shared/operations.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { OutputOf, SessionInput } from '../sessions/session-work.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import { byGrant, type Reach } from './reach.js';

/** The operations whose result does not depend on the transport. */
export type PlainOperation = Exclude<OperationName, RunOperation | StreamedOperation>;

/** A call whose caller was admitted. */
export interface AdmittedCall {
  readonly caller: Caller;
}

/** A call on a session that its caller reaches, and may use in this way. */
export class SessionCall implements AdmittedCall {
  readonly caller: Caller;
  readonly reach: Reach;
  readonly #env: Pick<OperationEnvironment, 'sessions'>;

  constructor(env: Pick<OperationEnvironment, 'sessions'>, caller: Caller, reach: Reach) {
    this.#env = env;
    this.caller = caller;
    this.reach = reach;
  }

  /** Has work done in the session, by the caller's grant if there is one. */
  perform<Input extends SessionInput>(input: Input): MaybePromise<OutputOf<Input>> {
    return this.#env.sessions.perform(this.reach.ref, { ...input, ...byGrant(this.reach) });
  }

  /** Like `perform`, for an operation that only answers that it was done. */
  done(input: SessionInput): MaybePromise<{ readonly ok: true }> {
    return andThen(this.perform(input) as MaybePromise<unknown>, () => ({ ok: true }));
  }
}

/** The call that the code of an operation gets: one on a session, if its params name one. */
type HandledCall<Name extends PlainOperation> =
  ParamsOf<Name> extends { readonly sessionId: string } ? SessionCall : AdmittedCall | SessionCall;

/** The code of operations. All that their words ask for is done before: authorization, rates, room. */
export type Handlers<Name extends PlainOperation = PlainOperation> = {
  readonly [Each in Name]: (params: ParamsOf<Each>, call: HandledCall<Each>) => MaybePromise<ResultOf<Each>>;
};
