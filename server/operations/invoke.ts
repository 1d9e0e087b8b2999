import { cut } from '../../shared/cut.js';
import { GatewayError, GuardError } from '../../shared/errors.js';
import type { MethodContext, PublishOptions } from '../../shared/method.js';
import type { ParamsOf } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { eventType } from '../apps/publish-options.js';
import type { MaybeLater } from '../async/eventual.js';
import { isPromise } from '../async/maybe-promise.js';
import { unauthenticated } from '../auth/refusal.js';
import type { AccessedOperation } from '../config/access.js';
import { type CallerContext, callMethod, holdsAnyRole, type MethodCallBounds } from '../methods/call.js';
import { methodsOf } from '../methods/catalogue.js';
import type { MethodEntry } from '../methods/flatten.js';
import { nearName } from '../methods/near-name.js';
import { type MethodStream, streamMethod } from '../methods/stream.js';
import type { Session } from '../sessions/session.js';
import type { Access } from './access.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';

/** A stream whose checks have not run yet. */
export interface StreamInvocation {
  readonly kind: 'stream';
  readonly stream: MethodStream;
}

/** The outcome of a method: a value, or a stream whose checks have not run yet. */
export type Invocation = { readonly kind: 'value'; readonly value: MaybeLater<unknown> } | StreamInvocation;

/** The parts of the gateway that calls of methods use. */
export interface InvokeEnvironment extends OperationEnvironment {
  readonly access: Access;
  readonly bounds: MethodCallBounds;
}

/** A session, and its caller's name for it. */
interface NamedSession {
  readonly session: Session;
  readonly sessionId: string;
  /** The grant by which the caller reaches it; absent for an owner. */
  readonly via?: string;
}

/** How a method is called. A call in the wrong way runs nothing, and its error names the right way. */
export interface InvokeOptions {
  /** The kind of outcome that the caller can read. @default both */
  readonly expects?: Invocation['kind'] | undefined;
}

/**
 * Finds a method and calls it.
 *
 * @throws GatewayError `METHOD_NOT_FOUND`, `TOO_MANY_CONNECTIONS` for one stream too many, `INVALID_REQUEST` for an outcome of another kind
 *   than expected, or the error that refuses the call
 */
export function invokeMethod(call: InvokeCall, { expects }: InvokeOptions): Invocation {
  const { env, params, caller, named } = call;
  const entry = env.methods.get(params.method);
  if (!entry) throw unknownMethod(call);
  if (expects && expects !== (entry.stream ? 'stream' : 'value')) throw wrongWay(entry);
  if (entry.stream) {
    const reaches = named && { sessionId: named.sessionId, operation: 'invoke' as const };
    return openStream(env, entry, { params: params.params, context: call, caller, reaches });
  }
  env.calls.begin();
  return { kind: 'value', value: callMethod(entry, params.params, call, env.bounds) };
}

/** The access that is checked again while a stream is open. */
interface CheckedAccess {
  readonly sessionId: string;
  readonly operation: AccessedOperation;
}

interface Opened {
  readonly params?: unknown;
  readonly context: CallerContext;
  readonly caller: Caller;
  readonly reaches: CheckedAccess | null;
}

/**
 * Streams an operation of the gateway. The stream is opened, bounded, reported and ended like one of a method.
 *
 * @param open Checks the request and returns the items.
 * @throws GatewayError `TOO_MANY_CONNECTIONS`
 */
export function streamOwn(
  env: InvokeEnvironment,
  {
    operation,
    sessionId,
    caller,
  }: CheckedAccess & { readonly operation: OperationName; readonly caller: Caller },
  open: () => Promise<AsyncIterable<unknown>>,
): StreamInvocation {
  const entry: MethodEntry = { path: operation, stream: true, definition: { handler: open } };
  const context = new InvokeCall(env, { method: operation }, caller);
  return openStream(env, entry, { context, caller, reaches: { operation, sessionId } });
}

function openStream(
  env: InvokeEnvironment,
  entry: MethodEntry,
  { params, context, caller, reaches }: Opened,
): StreamInvocation {
  const open = (closed: () => void): MethodStream => {
    const ended = (): void => {
      leave();
      closed();
    };
    const stream = streamMethod(entry, params, context, { guardMs: env.limits.guardMs, ended });
    const leave = attend(env, entry, stream, { caller, reaches });
    return stream;
  };
  return { kind: 'stream', stream: env.calls.stream(caller.person, open) };
}

function wrongWay({ path, stream }: MethodEntry): GatewayError {
  const message = stream
    ? `${path} is a streaming method: call it with client.stream(), or accept text/event-stream`
    : `${path} is not a streaming method: call it with client.invoke(), or accept application/json`;
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}

/** Ends a stream when its caller loses access or a required role. */
function attend(
  env: InvokeEnvironment,
  { definition: { roles }, path }: MethodEntry,
  stream: MethodStream,
  { caller, reaches }: Pick<Opened, 'caller' | 'reaches'>,
): () => void {
  let { person } = caller;
  return env.presence.add({
    get person() {
      return person;
    },
    async renew(renewed) {
      if (roles && !holdsAnyRole(renewed.user, roles)) {
        throw new GuardError({
          guardType: 'role',
          message: `You need another role to call ${path}`,
        });
      }
      if (reaches) await env.access.session(reaches.sessionId, reaches.operation, renewed);
      person = renewed;
    },
    sessionIds: reaches ? [reaches.sessionId] : [],
    end: (why) => stream.stop(why ?? unauthenticated('withdrawn', 'The credentials are not valid any more')),
  });
}

/** A call of a method, and the facts about its caller. They are computed when read, which `CallContext` does once. */
export class InvokeCall implements CallerContext {
  readonly env: InvokeEnvironment;
  readonly params: ParamsOf<'invoke'>;
  readonly caller: Caller;
  /** The session that the call names, and the name that it uses. */
  readonly named: NamedSession | null;

  constructor(
    env: InvokeEnvironment,
    params: ParamsOf<'invoke'>,
    caller: Caller,
    named: NamedSession | null = null,
  ) {
    this.env = env;
    this.params = params;
    this.caller = caller;
    this.named = named;
  }

  get user(): MethodContext['user'] {
    return this.caller.person.user;
  }
  get metadata(): MethodContext['metadata'] {
    const { caller, named } = this;
    const { clientId, connectionId, transport } = caller;
    const metadata: { -readonly [Key in keyof MethodContext['metadata']]: MethodContext['metadata'][Key] } = {
      clientId,
      transport,
      method: this.params.method,
    };
    if (named) metadata.sessionId = named.sessionId;
    if (connectionId !== undefined) metadata.connectionId = connectionId;
    return metadata;
  }
  get traceId(): string {
    return this.caller.traceId;
  }
  get requestId(): string {
    return this.caller.requestId;
  }
  get parentSpan(): MethodContext['parentSpan'] {
    return this.caller.parentSpan;
  }
  get lastEventId(): string | undefined {
    return this.params.lastEventId;
  }
  get signal(): AbortSignal {
    return this.caller.signal;
  }

  get channels(): MethodContext['channels'] {
    const session = this.named?.session;
    if (!session) return undefined;
    return {
      publish: (channel, payload, options) => {
        const published = this.#publish(session, channel, payload, options);
        // Most handlers do not await the promise, so a refusal is logged too.
        published.catch((error: unknown) => this.env.report(error, `publishing on ${printable(channel)}`));
        return published;
      },
    };
  }

  emit(name: string, payload: unknown): void {
    const { named, caller } = this;
    const session = named?.session;
    if (!session) return this.env.notify({ type: 'custom', name, payload });
    const failed = (error: unknown): void => this.env.report(error, `emitting ${printable(name)}`);
    // The host's listeners receive the event even if the session cannot begin.
    const unlogged = (error: unknown): void => {
      failed(error);
      if (!session.held) session.announce(name, payload);
    };
    try {
      const emitting = { name, payload, userId: caller.person.user.id, via: named.via };
      const emitted = this.env.sessions.perform(session.ref, { type: 'custom', ...emitting });
      if (isPromise(emitted)) emitted.catch(unlogged).catch(failed);
    } catch (error) {
      // The session is held, so the emitted event itself is at fault.
      if (session.held) throw error;
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
    await this.env.sessions.perform(session.ref, {
      type: 'publish',
      ...published,
      userId: this.caller.person.user.id,
      via: this.named?.via,
    });
  }
}

/** The error for a path that no method has, with the one that was probably meant: of those that its caller may list. */
function unknownMethod({ env, params: { method }, caller: { person } }: InvokeCall): GatewayError {
  const listed = person.link ? [] : methodsOf(env.methods, person.user);
  const near = nearName(
    String(method),
    listed.map(({ path }) => path),
  );
  const meant = near === undefined ? '' : `; did you mean ${printable(near)}?`;
  return new GatewayError({
    code: 'METHOD_NOT_FOUND',
    message: `There is no method ${printable(method)}${meant}`,
  });
}

/** A caller's text for a message: short and without control characters. */
function printable(text: unknown): string {
  return typeof text === 'string' ? JSON.stringify(cut(text, 128)) : typeof text;
}
