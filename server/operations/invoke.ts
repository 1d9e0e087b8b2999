import { GatewayError } from '../../shared/errors.js';
import type { MethodContext } from '../../shared/method.js';
import type { ParamsOf } from '../../shared/operation-types.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { callMethod, streamMethod } from '../methods/call.js';
import type { MethodEntry } from '../methods/flatten.js';
import type { MethodStream } from '../methods/stream.js';
import type { Session } from '../sessions/session.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';

/** The answer of a method: a value, or a stream whose checks have not run yet. */
export type Invocation =
  | { readonly kind: 'value'; readonly value: MaybePromise<unknown> }
  | { readonly kind: 'stream'; readonly stream: MethodStream };

/** Finds a method and calls it. @throws GatewayError `METHOD_NOT_FOUND`, `TOO_MANY_CONNECTIONS` for one stream too many, or what the call is refused with. */
export function invokeMethod(
  env: OperationEnvironment,
  params: ParamsOf<'invoke'>,
  caller: Caller,
  session: Session | null,
): Invocation {
  const entry = env.methods.get(params.method);
  if (!entry)
    throw new GatewayError({
      code: 'METHOD_NOT_FOUND',
      message: `There is no method ${printable(params.method)}`,
    });
  const context = new InvokeContext(env, caller, entry, session);
  const { calls, methodMs } = env;
  if (entry.stream) {
    const open = (closed: () => void): MethodStream => streamMethod(entry, params.params, context, closed);
    return { kind: 'stream', stream: calls.stream(caller.identity.userKey, open) };
  }
  const value = callMethod(entry, params.params, context, { timeoutMs: methodMs });
  return { kind: 'value', value: calls.track(value) };
}

class InvokeContext implements MethodContext {
  readonly metadata: MethodContext['metadata'];
  declare readonly channels?: NonNullable<MethodContext['channels']>;
  readonly #env: OperationEnvironment;
  readonly #caller: Caller;
  readonly #session: Session | null;

  constructor(env: OperationEnvironment, caller: Caller, entry: MethodEntry, session: Session | null) {
    this.#env = env;
    this.#caller = caller;
    this.#session = session;
    const { clientId, connectionId, transport } = caller;
    this.metadata = {
      clientId,
      transport,
      method: entry.path,
      ...(session && { sessionId: session.id }),
      ...(connectionId !== undefined && { connectionId }),
    };
    if (session)
      this.channels = {
        publish: (channel, payload, type) => {
          const published = this.#publish(session, channel, payload, type);
          // Most handlers do not await it: a refusal is told to those who do, and to the log.
          published.catch((error: unknown) => env.report(error, `publishing on ${printable(channel)}`));
          return published;
        },
      };
  }

  get user(): MethodContext['user'] {
    return this.#caller.identity.user;
  }
  get traceId(): string {
    return this.#caller.traceId;
  }
  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  emit(name: string, payload: unknown): void {
    const session = this.#session;
    if (!session) return this.#env.notify({ type: 'custom', name, payload });
    // Logged where the session has begun; the listeners hear it in any case.
    const opened = andThen(session.open(), () => session.emitCustom(name, payload));
    Promise.resolve(opened).catch((error: unknown) => this.#env.report(error, `emitting ${printable(name)}`));
  }

  async #publish(session: Session, channel: string, payload: unknown, type = 'message'): Promise<void> {
    await session.open({ userId: this.#caller.identity.user.id });
    session.publish(channel, type, payload);
  }
}

/** A caller's text for a message: short and without control characters. */
function printable(text: unknown): string {
  return typeof text === 'string' ? JSON.stringify(text.slice(0, 128)) : typeof text;
}
