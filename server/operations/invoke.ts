import { GatewayError, GuardError } from '../../shared/errors.js';
import type { MethodContext } from '../../shared/method.js';
import type { ParamsOf } from '../../shared/operation-types.js';
import { unauthenticated } from '../auth/refusal.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { holdsAnyRole } from '../methods/admit.js';
import { callMethod, streamMethod } from '../methods/call.js';
import type { MethodEntry } from '../methods/flatten.js';
import type { MethodStream } from '../methods/stream.js';
import type { Session } from '../sessions/session.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';

/** The answer of a method: a value, or a stream whose checks have not run yet. */
export type Invocation =
  | { readonly kind: 'value'; readonly value: MaybePromise<unknown> }
  | { readonly kind: 'stream'; readonly stream: MethodStream };

/** What methods are called with. */
export interface InvokeEnvironment extends OperationEnvironment {
  readonly access: Access;
}

/** Finds a method and calls it. @throws GatewayError `METHOD_NOT_FOUND`, or what the call is refused with. */
export function invokeMethod(
  env: InvokeEnvironment,
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
  return entry.stream
    ? {
        kind: 'stream',
        stream: attended(env, entry, streamMethod(entry, params.params, context), { caller, session }),
      }
    : { kind: 'value', value: callMethod(entry, params.params, context, { timeoutMs: env.methodMs }) };
}

/** Ends a stream whose caller is withdrawn, or does not hold its role any more. */
function attended(
  env: InvokeEnvironment,
  { definition: { roles }, path }: MethodEntry,
  stream: MethodStream,
  { caller, session }: { readonly caller: Caller; readonly session: Session | null },
): MethodStream {
  let { identity } = caller;
  const leave = env.presence.add({
    get identity() {
      return identity;
    },
    async renew(renewed) {
      if (roles && !holdsAnyRole(renewed.user, roles)) {
        throw new GuardError({
          guardType: 'role',
          message: `Calling ${path} takes a role that you do not hold`,
        });
      }
      if (session) await env.access.session(session.id, 'invoke', renewed);
      identity = renewed;
    },
    end: (why) => stream.end(why ?? unauthenticated('withdrawn', 'The credentials are not valid any more')),
  });
  stream.onceClosed(leave);
  return stream;
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
      this.channels = { publish: (channel, payload, type) => this.#publish(session, channel, payload, type) };
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
function printable(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}
