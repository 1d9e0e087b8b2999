import { GatewayError, GuardError } from '../../shared/errors.js';
import type { MethodContext, PublishOptions } from '../../shared/method.js';
import type { ParamsOf } from '../../shared/operation-types.js';
import { eventType } from '../apps/publish-options.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { unauthenticated } from '../auth/refusal.js';
import { callMethod, holdsAnyRole } from '../methods/call.js';
import type { MethodEntry } from '../methods/flatten.js';
import { type MethodStream, streamMethod } from '../methods/stream.js';
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

/** How a method is called: where it is the wrong way, nothing is run and the answer says which is right. */
export interface InvokeOptions {
  /** What the caller can read; without it, either. */
  readonly expects?: Invocation['kind'] | undefined;
}

/**
 * Finds a method and calls it.
 *
 * @throws GatewayError `METHOD_NOT_FOUND`, `TOO_MANY_CONNECTIONS` for one stream too many, or what the call is refused with; `INVALID_REQUEST` for an answer of another kind than
 *   is expected
 */
export function invokeMethod(
  env: InvokeEnvironment,
  call: { readonly params: ParamsOf<'invoke'>; readonly caller: Caller; readonly session: Session | null },
  { expects }: InvokeOptions,
): Invocation {
  const { params, caller, session } = call;
  const entry = env.methods.get(params.method);
  if (!entry)
    throw new GatewayError({
      code: 'METHOD_NOT_FOUND',
      message: `There is no method ${printable(params.method)}`,
    });
  if (expects && expects !== (entry.stream ? 'stream' : 'value')) throw wrongWay(entry);
  const context = new InvokeContext(env, caller, entry, session);
  if (params.lastEventId !== undefined) Object.assign(context, { lastEventId: params.lastEventId });
  const { calls, methodMs } = env;
  if (entry.stream) {
    const open = (closed: () => void): MethodStream => {
      const stream = streamMethod(entry, params.params, context, () => {
        leave();
        closed();
      });
      const leave = attend(env, entry, stream, { caller, session });
      return stream;
    };
    return { kind: 'stream', stream: calls.stream(caller.identity, open) };
  }
  const value = callMethod(entry, params.params, context, { timeoutMs: methodMs });
  return { kind: 'value', value: calls.track(value) };
}

function wrongWay({ path, stream }: MethodEntry): GatewayError {
  const message = stream
    ? `${path} is a streaming method: call it with client.stream(), or accept text/event-stream`
    : `${path} is not a streaming method: call it with client.invoke(), or accept application/json`;
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}

/** Ends a stream whose caller is withdrawn, or does not hold its role any more. */
function attend(
  env: InvokeEnvironment,
  { definition: { roles }, path }: MethodEntry,
  stream: MethodStream,
  { caller, session }: { readonly caller: Caller; readonly session: Session | null },
): () => void {
  let { identity } = caller;
  return env.presence.add({
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
    end: (why) => stream.stop(why ?? unauthenticated('withdrawn', 'The credentials are not valid any more')),
  });
}

class InvokeContext implements MethodContext {
  readonly metadata: MethodContext['metadata'];
  declare readonly channels?: NonNullable<MethodContext['channels']>;
  declare readonly lastEventId?: string;
  declare readonly parentSpan?: NonNullable<MethodContext['parentSpan']>;
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
    if (caller.parentSpan) this.parentSpan = caller.parentSpan;
    if (session)
      this.channels = {
        publish: (channel, payload, options) => {
          const published = this.#publish(session, channel, payload, options);
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
    const failed = (error: unknown): void => this.#env.report(error, `emitting ${printable(name)}`);
    // The host's listeners hear it also where the session cannot begin.
    const unlogged = (error: unknown): void => {
      failed(error);
      if (!session.writer) session.publisher.emit(name, payload);
    };
    try {
      const userId = this.#caller.identity.user.id;
      const emitted = this.#env.sessions.perform(session.ref, { type: 'custom', name, payload, userId });
      if (isPromise(emitted)) emitted.catch(unlogged).catch(failed);
    } catch (error) {
      // What is at fault is what the handler emits.
      if (session.writer) throw error;
      unlogged(error);
    }
  }

  async #publish(
    session: Session,
    channel: string,
    payload: unknown,
    options: PublishOptions | undefined,
  ): Promise<void> {
    const published = { channel, event: eventType(options), payload, stored: false };
    await this.#env.sessions.perform(session.ref, {
      type: 'publish',
      ...published,
      userId: this.#caller.identity.user.id,
    });
  }
}

/** A caller's text for a message: short and without control characters. */
function printable(text: unknown): string {
  return typeof text === 'string' ? JSON.stringify(text.slice(0, 128)) : typeof text;
}
