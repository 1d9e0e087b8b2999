import { GatewayError, isGatewayError } from '../../shared/errors.js';
import type { Accepted, ParamsOf, RunResult } from '../../shared/operation-types.js';
import type { RunOperation } from '../../shared/operations.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { isNamed } from '../auth/scope.js';
import type { AccessedOperation } from '../config/access.js';
import { channels } from '../diagnostics/channels.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import { asUnavailable } from '../log/unavailable.js';
import { toMessage } from '../runs/to-message.js';
import type { SendRequest } from '../sessions/message-sender.js';
import type { Handlers } from './call.js';
import type { Caller } from './caller.js';
import { checkClientMessages, checkToolCount } from './client-messages.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { OperationParts } from './operation-parts.js';
import { readParams } from './params.js';
import { asReached, assertShared, byGrant, type Followable, type Reach, shownMessages } from './reach.js';

/** A run that can be followed. */
export interface FollowableRun {
  readonly runId: string;
  readonly session: Followable;
  /** Cursor just before its `message_accepted`. */
  readonly cursor: string;
  readonly result: Promise<RunResult>;
}

/** An accepted message, and the means to follow its run. */
export interface Sent extends FollowableRun {
  readonly accepted: Accepted;
  /** Whether an earlier send with the same key was accepted before. */
  readonly repeated: boolean;
}

/** A request for a tool call as a run of its own. */
export interface DurableCall {
  readonly sessionId: string;
  readonly name: string;
  readonly input: unknown;
  /** A repeated call with the same key is the same run. */
  readonly key?: string | undefined;
  /** Metadata of the run, which its log has. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The operations that begin a run. */
export class SendOperations {
  readonly #env: OperationEnvironment;
  readonly #parts: OperationParts;

  constructor(env: OperationEnvironment, parts: OperationParts) {
    this.#env = env;
    this.#parts = parts;
  }

  /** Sends a message, or answers one again; resolves once it is accepted. @throws GatewayError */
  start(name: RunOperation, raw: unknown, caller: Caller, behind?: string | null): Promise<Sent> {
    return this.#env.calls.send(this.#start(name, raw, caller, behind));
  }

  async #start(...[name, raw, caller, behind]: Parameters<SendOperations['start']>): Promise<Sent> {
    return asUnavailable(() =>
      name === 'send' ? this.#send(raw, caller, behind) : this.#regenerate(raw, caller),
    );
  }

  /** Calls a tool of a session's app in a run of its own, which outlives its caller. @throws GatewayError */
  call({ sessionId, name, input, key, metadata }: DurableCall, caller: Caller): Promise<Sent> {
    const message = `Call ${name}`;
    const asked = { sessionId, message, lane: 'new', keep: false, idempotencyKey: key, metadata };
    const begin = async (): Promise<Sent> => {
      const params = readParams('send', asked);
      const beside = { keep: false, calls: { name, input } };
      return this.#begin('tool-call', params, caller, { inputs: [message], beside });
    };
    return this.#env.calls.send(Promise.resolve(asUnavailable(begin)));
  }

  #send(raw: unknown, caller: Caller, behind: string | null | undefined): Promise<Sent> {
    const params = readParams('send', raw);
    const { message, messages, onBusy, parent, replaces, lane, keep } = params;
    const inputs = messages ?? [message!];
    if (!caller.trusted) checkClientMessages(inputs, this.#env.clientMessages);
    const place = replaces === undefined ? (parent === undefined ? undefined : { parent }) : { replaces };
    const beside = lane && { keep: keep !== false };
    return this.#begin('send', params, caller, { inputs, onBusy, place, behind, beside });
  }

  readonly handlers: Handlers<'append' | 'steer'> = {
    /** Adds messages that begin no run. */
    append: async ({ messages: inputs }, { caller, reach }) => {
      if (!caller.trusted) checkClientMessages(inputs, this.#env.clientMessages);
      await this.#checkFiles(inputs, reach, caller);
      const { sender } = this.#env.sessions;
      const { user, key: reader } = caller.person;
      const said = { inputs, user, reader, senderId: senderIn(reach, caller), ...byGrant(reach) };
      const added = await sender.append(this.#env.sessions.get(reach.ref), said);
      assertShared(added.cursor, reach);
      return { ...added, messages: shownMessages(added.messages, reach) };
    },

    /** Sends a message to a run beside the conversation. */
    steer: async ({ runId, message: input }, call) => {
      const { caller, reach } = call;
      const inputs = [input];
      if (!caller.trusted) checkClientMessages(inputs, this.#env.clientMessages);
      await this.#checkFiles(inputs, reach, caller);
      const said = [toMessage(input, senderIn(reach, caller))];
      const { sender } = this.#env.sessions;
      const [message] = await sender.checked(reach.ref.app, said, caller.person.user);
      await call.perform({ type: 'steer', runId, message: message! });
      return { messageId: message!.id };
    },
  };

  /** Counts a message, and checks the files that it names and the room for it. @throws GatewayError */
  #admit(inputs: SendRequest['inputs'], reach: Reach, caller: Caller): MaybePromise<void> {
    assertOpen(this.#env);
    this.#env.quotas.sends.take(caller.person);
    const check = (): MaybePromise<void> => this.#parts.room.check(reach.ref, reach.via !== undefined);
    const readable = this.#checkFiles(inputs, reach, caller);
    const admitted = readable ? readable.then(check) : check();
    return andThen(admitted, () => this.#admittedBy(reach, caller));
  }

  /** Asks the features that may refuse a message. */
  #admittedBy(reach: Reach, caller: Caller, from = 0): MaybePromise<void> {
    const { features } = this.#env;
    for (let at = from; at < features.length; at += 1) {
      const admitted = features[at]!.admits?.({ reach, caller });
      if (isPromise(admitted)) return admitted.then(() => this.#admittedBy(reach, caller, at + 1));
    }
  }

  #checkFiles(inputs: SendRequest['inputs'], { ref, via }: Reach, { person }: Caller): Promise<void> | null {
    const { files } = this.#parts;
    return via ? files.checkShared(inputs, ref) : files.checkNamed(inputs, person);
  }

  #regenerate(raw: unknown, caller: Caller): Promise<Sent> {
    const params = readParams('regenerate', raw);
    return this.#begin('regenerate', params, caller, { inputs: [], again: params.messageId ?? null });
  }

  async #begin(
    name: AccessedOperation,
    params: ParamsOf<'regenerate'>,
    caller: Caller,
    begun: Pick<SendRequest, 'inputs' | 'onBusy' | 'place' | 'behind' | 'again' | 'beside'>,
  ): Promise<Sent> {
    const { sessionId, idempotencyKey: key, metadata, onlyAs } = params;
    const { inputs, onBusy, place, behind, again, beside } = begun;
    const { user, link: guest } = caller.person;
    if (onlyAs && !isNamed(user, onlyAs)) throw new GatewayError({ code: 'OTHER_USER' });
    const { access, authorize } = this.#parts;
    checkToolCount(params, this.#env.limits.clientToolsPerSend);
    const reach = await authorize(sessionId, name, caller);
    const { ref, via } = reach;
    // The grant hides tool output, so the caller must not see the result.
    if (beside?.calls && via?.view.hides('toolOutput')) throw new GatewayError({ code: 'ACCESS_DENIED' });
    if (!caller.trusted) await access.brought(params, ref.app, caller.person);
    const session = this.#env.sessions.get(ref);
    let isCounted = false;
    const sending = this.#env.sessions.sender.send(session, {
      inputs,
      onBusy,
      place,
      behind,
      again,
      beside,
      senderId: senderIn(reach, caller),
      ...byGrant(reach),
      givenBy: guest?.givenBy,
      reader: caller.person.key,
      key,
      metadata,
      user,
      trace: traceOf(caller),
      requestId: caller.requestId,
      clientTools: params.clientTools,
      parameters: params.parameters,
      toolOutputs: params.toolOutputs,
      admit: () => {
        const admitted = this.#admit(inputs, reach, caller);
        isCounted = true;
        return admitted;
      },
    });
    const sent = await sending.catch((error: unknown) => {
      // The caller plans the send anew, and both attempts together count as one message.
      const isOutdated = isGatewayError(error) && error.code === 'HISTORY_MOVED' && behind !== undefined;
      if (isOutdated && isCounted) this.#env.quotas.sends.giveBack(caller.person);
      throw error;
    });
    const { repeated, result, message, ...others } = sent;
    const { runId, cursor } = others;
    assertShared(cursor, reach);
    // The message may be somebody else's: of an answer that is made anew, or of an earlier send with the same key.
    const accepted = { message: shownMessages([message], reach)[0]!, ...others };
    return {
      ...{ runId, cursor, repeated, accepted, session: asReached(session, reach) },
      result: this.shown(result, reach, 'run', caller),
    };
  }

  /** The outcome of a run in its caller's view. Rejects if the caller has lost access by then. */
  shown(
    outcome: Promise<RunResult>,
    { via, sessionId }: Reach,
    operation: AccessedOperation,
    { person }: Pick<Caller, 'person'>,
  ): Promise<RunResult> {
    if (!via) return outcome;
    const shown = outcome.then(async (result) => {
      const again = await this.#parts.access.session(sessionId, operation, person);
      return again.via!.view.result(result);
    });
    // Avoid an unhandled rejection if nobody waits for the outcome.
    shown.catch(() => {});
    return shown;
  }
}

/** The sender's id, which would say nothing in a session with a single user. */
function senderIn({ via }: Reach, { person: { user, key: userKey, scope } }: Caller): string | undefined {
  return scope === userKey && !via ? undefined : user.id;
}

/** The trace for a caller's new run: the caller's own, or a new one if a listener subscribes to runs; otherwise undefined. */
function traceOf(caller: Caller): TraceOrigin | undefined {
  const { parentSpan } = caller;
  if (parentSpan) return { traceId: parentSpan.traceId, parentSpan };
  return channels.run.hasSubscribers ? { traceId: caller.traceId } : undefined;
}
