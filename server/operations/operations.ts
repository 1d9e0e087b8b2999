import { GatewayError } from '../../shared/errors.js';
import type { Accepted, ParamsOf, ResultOf, SubscribeTarget } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import { PROTOCOL_RANGE } from '../../shared/version.js';
import type { ClientTool } from '../apps/application.js';
import type { ToolOutput } from '../apps/tool.js';
import { authExpiry } from '../auth/expiry.js';
import { type EventConnection, MAX_SUBSCRIPTIONS } from '../delivery/connection.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { listMethods, listPayloads } from '../methods/catalogue.js';
import type { SentMessage } from '../sessions/message-sender.js';
import { boundedPage } from '../sessions/page.js';
import type { Session } from '../sessions/session.js';
import type { ToolProgressListener } from '../sessions/session-calls.js';
import type { SessionRef } from '../stores/store.js';
import type { Caller } from './caller.js';
import type { AccessedOperation, OperationEnvironment } from './environment.js';
import { type Invocation, type InvokeOptions, invokeMethod } from './invoke.js';
import { readParams } from './params.js';

/** The operations whose answer does not depend on the transport. */
export type PlainOperation = Exclude<OperationName, 'send' | 'invoke'>;

/** A message that was accepted, with what a transport needs to follow its run. */
export interface Sent extends SentMessage {
  readonly session: Session;
  readonly accepted: Accepted;
}

/** What a program that speaks for somebody adds to a send: tools that they answer themselves, parameters of the model. */
export interface SendExtras {
  readonly clientTools?: readonly ClientTool[];
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A tool call that belongs to no run. */
export interface ToolCallRequest {
  readonly sessionId: string;
  readonly name: string;
  readonly input: unknown;
  /** Hears what the tool reports. */
  readonly progress?: ToolProgressListener;
}

const PAGE = 50;

type Handlers = {
  [Name in PlainOperation]: (params: ParamsOf<Name>, caller: Caller) => MaybePromise<ResultOf<Name>>;
};

/**
 * The operations of the table, each done and authorized here and nowhere else, so that two doors can't differ. A session that
 * the caller may not see answers like one that does not exist.
 */
export class Operations {
  readonly #env: OperationEnvironment;

  constructor(env: OperationEnvironment) {
    this.#env = env;
  }

  /** Runs one of the plain operations. @throws GatewayError */
  execute<Name extends PlainOperation>(
    name: Name,
    raw: unknown,
    caller: Caller,
  ): MaybePromise<ResultOf<Name>> {
    return this.#handlers[name](readParams(name, raw), caller) as MaybePromise<ResultOf<Name>>;
  }

  /** Sends a message; resolves once it is accepted. @throws GatewayError */
  async send(raw: unknown, caller: Caller, extras: SendExtras = {}): Promise<Sent> {
    const { sessionId, message, messages, idempotencyKey: key, onBusy, metadata } = readParams('send', raw);
    const { user, userKey } = caller.identity;
    const session = this.#env.sessions.get(await this.#authorize(sessionId, 'send', caller));
    const sent = await this.#env.sessions.sender.send(session, {
      inputs: messages ?? [message!],
      key,
      onBusy,
      metadata,
      user,
      ...extras,
      admit: () => {
        this.#assertOpen();
        this.#env.sends.take(userKey);
      },
    });
    const { runId, position, cursor } = sent;
    return { ...sent, session, accepted: { runId, message: sent.message, position, cursor } };
  }

  /** Calls a custom method. Synchronous where the method is. @throws GatewayError */
  invoke(raw: unknown, caller: Caller, options: InvokeOptions = {}): MaybePromise<Invocation> {
    const params = readParams('invoke', raw);
    this.#assertOpen();
    this.#env.invokes.take(caller.identity.userKey);
    if (params.sessionId === undefined)
      return invokeMethod(this.#env, { params, caller, session: null }, options);
    return andThen(this.#authorize(params.sessionId, 'invoke', caller), (ref) =>
      invokeMethod(this.#env, { params, caller, session: this.#env.sessions.get(ref) }, options),
    );
  }

  /**
   * Calls a tool of a session's app outside of any run. What the tool answers or fails with is the result; a session that has not
   * begun begins only if a person has to be asked.
   *
   * @throws GatewayError why the call was not begun
   */
  callTool({ sessionId, ...call }: ToolCallRequest, caller: Caller): MaybePromise<ToolOutput> {
    this.#assertOpen();
    this.#env.invokes.take(caller.identity.userKey);
    return andThen(this.#authorize(sessionId, 'tool-call', caller), (ref) =>
      this.#env.sessions.get(ref).calls.call({
        ...call,
        user: caller.identity.user,
        signal: caller.signal,
        timeoutMs: this.#env.methodMs,
      }),
    );
  }

  /** Closes a session and drops all that is kept of it; one that has not begun is nothing to do. @throws GatewayError */
  async discard(sessionId: string, caller: Caller): Promise<void> {
    await this.#env.sessions.discard(await this.#authorize(sessionId, 'close', caller));
  }

  /** Tells a new connection what it follows, then lets it follow. @throws GatewayError */
  async open(
    connection: EventConnection,
    targets: readonly SubscribeTarget[],
    protocol: number = PROTOCOL_RANGE.max,
  ): Promise<void> {
    this.#assertOpen();
    const followed = [];
    for (const { sessionId, ...target } of targets) {
      if (connection.options.client) this.#env.subscribes.take(connection.identity.userKey);
      const session = await this.#subscribable(sessionId, connection.identity);
      followed.push({ id: session.id, ...(await connection.follow(session, target)) });
    }
    this.#env.connections.announce(connection);
    const { expiresAt } = connection.identity;
    connection.send('connected', {
      protocol,
      gatewayId: this.#env.gatewayId,
      connectionId: connection.id,
      clientId: connection.id,
      heartbeatMs: connection.options.heartbeatMs,
      ...authExpiry(expiresAt),
      defaultApp: this.#env.apps.defaultApp,
      sessions: Object.fromEntries(followed.map(({ id, info }) => [id, info])),
    });
    connection.heartbeat();
    for (const { begin } of followed) begin();
  }

  async #subscribable(sessionId: string, identity: Caller['identity']): Promise<Session> {
    const session = this.#env.sessions.get(await this.#authorize(sessionId, 'events', { identity }));
    // A session that has not begun is waited for.
    await session.open();
    return session;
  }

  readonly #handlers: Handlers = {
    subscribe: (params, caller) => this.#subscribe(params, caller),
    abort: async ({ sessionId, runId, reason }, caller) => {
      const session = await this.#existing(sessionId, 'abort', caller);
      return { aborted: await session.runs.abort(runId, reason) };
    },
    close: async ({ sessionId }, caller) => {
      const session = await this.#existing(sessionId, 'close', caller);
      await session.close('closed');
      return { ok: true };
    },
    'tool-response': async ({ sessionId, callId, ...answer }, caller) => {
      const session = await this.#existing(sessionId, 'tool-response', caller);
      await session.runs.respond(callId, { ...answer, by: caller.identity.user.id });
      return { ok: true };
    },
    channel: async ({ sessionId, channel, type = 'message', payload }, caller) => {
      this.#assertOpen();
      this.#env.sends.take(caller.identity.userKey);
      const session = this.#env.sessions.get(await this.#authorize(sessionId, 'channel', caller));
      await session.open({ userId: caller.identity.user.id });
      await session.publishStored(channel, type, payload ?? null);
      return { ok: true };
    },
    ticket: (_params, caller) => this.#env.tickets.issue(caller.identity),
    history: (params, caller) => this.#history(params, caller),
    sessions: (params, caller) => this.#sessions(params, caller),
    apps: () => ({ apps: this.#env.apps.summaries() }),
    status: (params, caller) => this.#status(params, caller),
    methods: (_params, caller) => ({
      version: 1,
      methods: listMethods(this.#env.methods, caller.identity.user),
      channels: listPayloads(this.#env.payloads.channels),
      events: listPayloads(this.#env.payloads.events),
    }),
    openapi: (_params, { identity }) => this.#env.documents.openapi(identity.user),
    asyncapi: (_params, { identity }) => this.#env.documents.asyncapi(identity.user),
  };

  async #subscribe(params: ParamsOf<'subscribe'>, caller: Caller): Promise<ResultOf<'subscribe'>> {
    this.#assertOpen();
    const { connectionId, sessionId, add = [], remove = [] } = params;
    const connection = this.#env.connections.get(connectionId);
    const { scope, userKey } = caller.identity;
    if (
      !connection?.options.client ||
      connection.identity.scope !== scope ||
      connection.identity.userKey !== userKey
    ) {
      throw new GatewayError({ code: 'CONNECTION_NOT_FOUND' });
    }
    const targets = [...(sessionId === undefined ? [] : [sessionId]), ...add];
    const canonical = (id: string): string => {
      const { app, name } = this.#env.apps.parse(id);
      return this.#env.apps.format(app, name);
    };
    const removed = remove.map(canonical);
    const followed = new Set(connection.sessionIds);
    for (const id of removed) followed.delete(id);
    for (const target of targets)
      followed.add(canonical(typeof target === 'string' ? target : target.sessionId));
    if (followed.size > MAX_SUBSCRIPTIONS) {
      throw new GatewayError({
        code: 'QUEUE_FULL',
        message: `A connection follows at most ${MAX_SUBSCRIPTIONS} sessions`,
      });
    }
    for (const id of removed) connection.unfollow(id);
    for (const target of targets) {
      const { sessionId: id, ...start } = typeof target === 'string' ? { sessionId: target } : target;
      this.#env.subscribes.take(userKey);
      // The present token decides, not the one the connection was opened with.
      const session = await this.#subscribable(id, caller.identity);
      const { info, begin } = await connection.follow(session, start);
      connection.send('subscribed', { sessionId: session.id, ...info });
      begin();
    }
    return { subscriptions: connection.sessionIds };
  }

  async #history(params: ParamsOf<'history'>, caller: Caller): Promise<ResultOf<'history'>> {
    const { sessionId, limit = PAGE, before } = params;
    const session = await this.#existing(sessionId, 'history', caller);
    const log = session.log!;
    const end = before === undefined ? log.messageCount : ordinalOf(before, log.ref.epoch);
    const { messages, start } = await boundedPage(log, end, { limit, bytes: log.pageBytes });
    return { messages, cursor: start > 0 ? `${log.ref.epoch}.${start}` : null, hasMore: start > 0 };
  }

  async #sessions(params: ParamsOf<'sessions'>, caller: Caller): Promise<ResultOf<'sessions'>> {
    const { limit = PAGE, before } = params;
    const place = before === undefined ? undefined : Number(before);
    if (place !== undefined && !Number.isSafeInteger(place))
      throw invalid('before', 'not a cursor of this list');
    const page = await this.#env.store.list(caller.identity.scope, { limit, before: place });
    const sessions = [];
    for (const { ref, createdAt, updatedAt } of page.records) {
      const sessionId = this.#env.apps.format(ref.app, ref.name);
      if (!(await this.#mayAccess(ref, sessionId, 'sessions', caller))) continue;
      const { status } = this.#env.sessions.peek(ref)?.describe() ?? { status: 'idle' as const };
      sessions.push({ sessionId, app: ref.app, status, createdAt, updatedAt });
    }
    return { sessions, cursor: page.next === null ? null : String(page.next) };
  }

  async #status({ sessionId }: ParamsOf<'status'>, caller: Caller): Promise<ResultOf<'status'>> {
    if (sessionId === undefined) {
      const { gatewayId, state } = this.#env;
      return {
        gatewayId,
        protocol: PROTOCOL_RANGE,
        draining: state.draining,
        user: { id: caller.identity.user.id },
      };
    }
    const session = await this.#existing(sessionId, 'status', caller);
    const log = session.log!;
    const { first, head, cursor } = log;
    return {
      sessionId: session.id,
      app: session.ref.app,
      ...session.describe(),
      epoch: log.ref.epoch,
      first,
      head,
      cursor,
    };
  }

  async #existing(sessionId: string, operation: OperationName, caller: Caller): Promise<Session> {
    return this.#env.sessions.existing(await this.#authorize(sessionId, operation, caller));
  }

  /** The place a key names for a caller. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND`, `SESSION_NOT_FOUND` */
  #authorize(
    sessionId: string,
    operation: AccessedOperation,
    caller: Pick<Caller, 'identity'>,
  ): MaybePromise<SessionRef> {
    const { app, name } = this.#env.apps.parse(sessionId);
    const ref = { scope: caller.identity.scope, app, name };
    return andThen(this.#mayAccess(ref, this.#env.apps.format(app, name), operation, caller), (allowed) => {
      if (allowed) return ref;
      throw new GatewayError({ code: 'SESSION_NOT_FOUND' });
    });
  }

  #mayAccess(
    { app, name }: SessionRef,
    sessionId: string,
    operation: AccessedOperation,
    { identity }: Pick<Caller, 'identity'>,
  ): MaybePromise<boolean> {
    const { sessionAccess } = this.#env;
    if (!sessionAccess) return true;
    const refused = (error: unknown): false => {
      this.#env.report(error, 'sessionAccess failed');
      return false;
    };
    try {
      const allowed = sessionAccess(identity.user, { app, name, sessionId }, operation);
      return typeof allowed === 'boolean'
        ? allowed
        : Promise.resolve(allowed).then((value) => value === true, refused);
    } catch (error) {
      return refused(error);
    }
  }

  #assertOpen(): void {
    if (this.#env.state.draining) throw new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 });
  }
}

/** Reads a history cursor. @throws GatewayError `CURSOR_GONE` for one of another log */
function ordinalOf(before: string, epoch: string): number {
  const at = before.lastIndexOf('.');
  const ordinal = Number(before.slice(at + 1));
  if (at < 0 || !Number.isSafeInteger(ordinal) || ordinal < 0)
    throw invalid('before', 'not a cursor of this history');
  if (before.slice(0, at) !== epoch) throw new GatewayError({ code: 'CURSOR_GONE' });
  return ordinal;
}

function invalid(path: string, message: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_PARAMS',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}
