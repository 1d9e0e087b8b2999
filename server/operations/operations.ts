import { GatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import type { CustomNotice } from '../../shared/notices.js';
import type { ParamsOf, ResultOf, SubscribeTarget, UploadedFile } from '../../shared/operation-types.js';
import {
  isRead,
  type OperationName,
  type RunOperation,
  type StreamedOperation,
} from '../../shared/operations.js';
import type { ToolOutput } from '../apps/tool.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { SharedTimer } from '../async/shared-timer.js';
import type { AccessedOperation } from '../config/access.js';
import type { EventConnection } from '../delivery/connection.js';
import type { Upload } from '../files/uploads.js';
import { Inbox } from '../inbox/inbox.js';
import { SessionRoom } from '../limits/session-room.js';
import { asUnavailable } from '../log/unavailable.js';
import { listMethods, listPayloads } from '../methods/catalogue.js';
import { exportItems } from '../sessions/export.js';
import type { ConfirmationListener, ToolProgressListener } from '../sessions/session-calls.js';
import { Access } from './access.js';
import type { Caller } from './caller.js';
import { ChangeOperations } from './change-operations.js';
import { ControlOperations } from './control-operations.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import { FileOperations, type ReadableFile } from './file-operations.js';
import { GrantOperations, guestDenied } from './grant-operations.js';
import { ImportOperations } from './import-operations.js';
import {
  type Invocation,
  InvokeCall,
  type InvokeEnvironment,
  type InvokeOptions,
  invokeMethod,
  type StreamInvocation,
  streamOwn,
} from './invoke.js';
import { NoticeOperations } from './notice-operations.js';
import type { Authorize, OperationParts } from './operation-parts.js';
import { readInvoke, readParams } from './params.js';
import { PresenceOperations } from './presence-operations.js';
import { asReached, byGrant, type Reach } from './reach.js';
import { ReadOperations, type SentRun } from './read-operations.js';
import { ScheduleOperations } from './schedule-operations.js';
import { type FollowableRun, SendOperations, type Sent } from './send-operations.js';
import { Subscriptions } from './subscriptions.js';

/** The operations whose result does not depend on the transport. */
export type PlainOperation = Exclude<OperationName, RunOperation | StreamedOperation>;

/** A request for a tool call outside of any run. */
export interface ToolCallRequest {
  readonly sessionId: string;
  readonly name: string;
  readonly input: unknown;
  /** Receives the tool's progress. */
  readonly progress?: ToolProgressListener;
  /** Receives a confirmation that the tool needs, to ask for it elsewhere as well. */
  readonly asked?: ConfirmationListener;
}

/** Operations that describe the gateway and name no session. Guests reach one session and nothing else. */
const NOT_FOR_GUESTS: ReadonlySet<string> = new Set<PlainOperation>(['methods', 'openapi']);

type Handlers = {
  [Name in PlainOperation]: (params: ParamsOf<Name>, caller: Caller) => MaybePromise<ResultOf<Name>>;
};

/**
 * The operations of the table. Each is authorized and performed only here, so that two doors can't differ. A session that the caller may
 * not see looks like one that does not exist.
 */
export class Operations {
  readonly #env: OperationEnvironment;
  readonly #access: Access;
  readonly #room: SessionRoom;
  readonly #reading: ReadOperations;
  readonly #sending: SendOperations;
  readonly #changing: ChangeOperations;
  readonly #following: Subscriptions;
  readonly #invokeEnv: InvokeEnvironment;
  readonly #files: FileOperations;
  readonly #importing: ImportOperations;
  readonly #scheduling: ScheduleOperations;
  readonly #inbox: Inbox;
  readonly #notifying: NoticeOperations;
  readonly #sharing: GrantOperations;
  readonly #controlling: ControlOperations;
  readonly #attending: PresenceOperations;

  constructor(env: OperationEnvironment) {
    this.#env = env;
    this.#access = new Access(env);
    this.#room = new SessionRoom(env.store, env.quotas);
    const authorize: Authorize = (...asked) => this.#authorize(...asked);
    this.#inbox = new Inbox({
      ...{ store: env.store, apps: env.apps, grants: env.grants },
      logOf: async (ref) => (await env.sessions.existing(ref)).log!,
      mayShow: async (ref, identity, via) =>
        (!via || env.apps.has(ref.app)) &&
        (await this.#access.mayUse(ref.app, identity)) &&
        this.#access.mayReach(ref, 'inbox', identity, via),
    });
    this.#following = new Subscriptions(env, { authorize, inbox: this.#inbox });
    const { calls, methodMs: timeoutMs, guardMs } = env;
    const bounds = { timeoutMs, guardMs, timer: new SharedTimer(), ended: calls.end };
    this.#invokeEnv = { ...env, access: this.#access, bounds };
    this.#files = new FileOperations(env, this.#access);
    const parts: OperationParts = { access: this.#access, authorize, files: this.#files, room: this.#room };
    this.#sending = new SendOperations(env, parts);
    this.#changing = new ChangeOperations(env, { ...parts, places: this.#inbox.places });
    this.#importing = new ImportOperations(env, parts);
    this.#scheduling = new ScheduleOperations(env, parts);
    this.#notifying = new NoticeOperations(env, parts);
    this.#sharing = new GrantOperations(env, parts);
    this.#reading = new ReadOperations(env, { ...parts, sharing: this.#sharing });
    this.#controlling = new ControlOperations(env, parts);
    this.#attending = new PresenceOperations(env, parts);
  }

  /** Runs one of the plain operations. @throws GatewayError */
  execute<Name extends PlainOperation>(
    name: Name,
    raw: unknown,
    caller: Caller,
  ): MaybePromise<ResultOf<Name>> {
    if (caller.identity.guest && NOT_FOR_GUESTS.has(name)) throw guestDenied(name);
    if (isRead(name)) this.#env.quotas.reads.take(caller.identity);
    const done = asUnavailable<unknown>(() => this.#handlers[name](readParams(name, raw), caller));
    return done as MaybePromise<ResultOf<Name>>;
  }

  /** Sends a message, or answers one again; resolves once it is accepted. @throws GatewayError */
  start(name: RunOperation, raw: unknown, caller: Caller, behind?: string | null): Promise<Sent> {
    return this.#sending.start(name, raw, caller, behind);
  }

  /** Follows any run of a session to its outcome. @throws GatewayError `RUN_NOT_FOUND`, also for a run that the caller may not see */
  async follow(raw: unknown, caller: Caller): Promise<FollowableRun> {
    const params = readParams('run', raw);
    const { session, record, cursor, reach } = await asUnavailable(() => this.#reading.find(params, caller));
    return {
      runId: record.runId,
      session: asReached(session, reach),
      cursor,
      result: this.#sending.shown(session.results.ofStored(record), reach, 'run', caller),
    };
  }

  /** Finds the run that an idempotency key began; null if there is none. */
  sent(
    named: { readonly sessionId: string; readonly key: string },
    caller: Caller,
  ): MaybePromise<SentRun | null> {
    return asUnavailable(() => this.#reading.sent(named, caller));
  }

  /** Calls a custom method. Synchronous if the method is. @throws GatewayError */
  invoke(raw: unknown, caller: Caller, options: InvokeOptions = {}): MaybePromise<Invocation> {
    const params = readInvoke(raw);
    assertOpen(this.#env);
    this.#env.quotas.invokes.take(caller.identity);
    if (params.sessionId === undefined && caller.identity.guest) throw guestDenied('methods');
    if (params.sessionId === undefined)
      return invokeMethod(new InvokeCall(this.#invokeEnv, params, caller), options);
    return andThen(this.#authorize(params.sessionId, 'invoke', caller), (reach) => {
      const { ref, sessionId } = reach;
      const session = { session: this.#env.sessions.get(ref), sessionId, ...byGrant(reach) };
      return invokeMethod(new InvokeCall(this.#invokeEnv, params, caller, session), options);
    });
  }

  /**
   * Calls a tool of a session's app outside of any run. The result holds the tool's output or its failure. A session that has not begun
   * begins only if a user has to confirm the call.
   *
   * @throws GatewayError with the reason why the call was not begun
   */
  callTool({ sessionId, ...call }: ToolCallRequest, caller: Caller): MaybePromise<ToolOutput> {
    if (!this.#env.calls.isServing) assertOpen(this.#env);
    this.#env.quotas.invokes.take(caller.identity);
    return andThen(this.#authorize(sessionId, 'tool-call', caller), ({ ref, via }) => {
      // The grant hides tool output, so the caller must not see the result.
      if (via?.view.hides('toolOutput')) throw new GatewayError({ code: 'ACCESS_DENIED' });
      return this.#env.sessions.get(ref).calls.call({
        ...call,
        user: caller.identity.user,
        givenBy: caller.identity.guest?.givenBy,
        signal: caller.signal,
        timeoutMs: this.#env.methodMs,
      });
    });
  }

  /**
   * Streams everything that is kept of a session. Nothing is read before the stream is opened.
   *
   * @throws GatewayError `INVALID_PARAMS`, `TOO_MANY_CONNECTIONS`, `RATE_LIMITED`
   */
  export(raw: unknown, caller: Caller): MaybePromise<StreamInvocation> {
    const { sessionId, what = 'messages' } = readParams('export', raw);
    this.#env.quotas.reads.take(caller.identity);
    return streamOwn(this.#invokeEnv, { operation: 'export', sessionId, caller }, async () => {
      const { ref, via, ...named } = await this.#authorize(sessionId, 'export', caller);
      const session = await asUnavailable(() => this.#env.sessions.existing(ref));
      return exportItems(session, what, { sessionId: named.sessionId, view: via?.view });
    });
  }

  /** Stores an uploaded file. @throws GatewayError */
  upload(upload: Upload, caller: Caller): Promise<UploadedFile> {
    if (caller.identity.guest) throw guestDenied('uploads');
    return this.#files.upload(upload, caller);
  }

  /** Finds a file. @param sessionId A session that names it @throws GatewayError `FILE_NOT_FOUND`, also for a file that the caller may not read */
  file(fileId: string, caller: Caller, sessionId?: string): Promise<ReadableFile> {
    return this.#files.find(fileId, caller, sessionId);
  }

  /** Closes a session and drops everything that is kept of it. Does nothing if the session has not begun. @throws GatewayError */
  discard(sessionId: string, caller: Caller): Promise<void> {
    return this.#changing.discard(sessionId, caller);
  }

  /** Sends the caller a host's notice of a session. @throws GatewayError */
  notify(sessionId: string, notice: CustomNotice, caller: Caller): Promise<{ readonly id: string }> {
    return Promise.resolve(asUnavailable(() => this.#notifying.notify(sessionId, notice, caller)));
  }

  /** Lists all open sessions of a scope, for the host, without access checks. @throws GatewayError */
  async sessionsIn(scope: string, raw: unknown): Promise<ResultOf<'sessions'>> {
    const params = readParams('sessions', raw);
    return asUnavailable(() => this.#reading.list(scope, params, () => true));
  }

  /** The apps that a caller may use. */
  appsOf(identity: Caller['identity']): MaybePromise<ResultOf<'apps'>['apps']> {
    return this.#access.apps(identity);
  }

  /** Renews the identity of a connection after revalidation. @throws GatewayError when the caller lost access to a followed session */
  renew(connection: EventConnection, identity: Caller['identity']): Promise<void> {
    return this.#following.renew(connection, identity);
  }

  /** Sends a new connection its subscriptions, then begins them. @returns the description of each session @throws GatewayError */
  open(
    connection: EventConnection,
    targets: readonly SubscribeTarget[],
    protocol?: number,
  ): Promise<Readonly<Record<string, SubscriptionInfo>>> {
    return this.#following.open(connection, targets, protocol);
  }

  readonly #handlers: Handlers = {
    subscribe: (params, caller) => {
      assertOpen(this.#env);
      return this.#following.subscribe(params, caller.identity);
    },
    abort: (params, caller) => this.#changing.abort(params, caller),
    close: (params, caller) => this.#changing.close(params, caller),
    delete: (params, caller) => this.#changing.delete(params, caller),
    'tool-response': (params, caller) => this.#changing.respond(params, caller),
    channel: (params, caller) => this.#changing.publish(params, caller),
    update: (params, caller) => this.#changing.update(params, caller),
    move: (params, caller) => this.#changing.move(params, caller),
    fork: (params, caller) => this.#changing.fork(params, caller),
    steer: (params, caller) => this.#sending.steer(params, caller),
    import: (params, caller) => this.#importing.import(params, caller),
    schedule: (params, caller) => this.#scheduling.schedule(params, caller),
    unschedule: (params, caller) => this.#scheduling.unschedule(params, caller),
    schedules: (params, caller) => this.#scheduling.schedules(params, caller),
    read: async ({ sessionId, cursor }, caller) => {
      const { ref, sessionId: reached } = await this.#authorize(sessionId, 'read', caller);
      const { place, unread } = await this.#inbox.places.reach(ref, caller.identity.userKey, cursor);
      this.#env.inboxChanges.changed(ref, false);
      return { sessionId: reached, readTo: place.cursor, unread };
    },
    inbox: (params, { identity }) => this.#inbox.page(params, identity),
    notices: (params, caller) => this.#notifying.notices(params, caller),
    push: (params, caller) => this.#notifying.push(params, caller),
    share: (params, caller) => this.#sharing.share(params, caller),
    unshare: (params, caller) => this.#sharing.unshare(params, caller),
    grants: (params, caller) => this.#sharing.grants(params, caller),
    'take-over': (params, caller) => this.#controlling.takeOver(params, caller),
    'hand-back': (params, caller) => this.#controlling.handBack(params, caller),
    react: (params, caller) => this.#controlling.react(params, caller),
    presence: (params, caller) => this.#attending.presence(params, caller),
    ticket: (_params, caller) => this.#env.tickets.issue(caller.identity),
    history: (params, caller) => this.#reading.history(params, caller),
    sessions: (params, caller) => this.#reading.sessions(params, caller),
    apps: (_params, { identity }) => andThen(this.#access.apps(identity), (apps) => ({ apps })),
    status: (params, caller) => this.#reading.status(params, caller),
    run: (params, caller) => this.#reading.run(params, caller),
    methods: (_params, caller) => ({
      version: 1,
      methods: listMethods(this.#env.methods, caller.identity.user),
      channels: listPayloads(this.#env.payloads.channels),
      events: listPayloads(this.#env.payloads.events),
    }),
    openapi: (_params, { identity }) => this.#env.documents.openapi(identity.user),
  };

  #authorize(
    sessionId: string,
    operation: AccessedOperation,
    { identity }: Pick<Caller, 'identity'>,
  ): MaybePromise<Reach> {
    this.#env.quotas.meet(identity);
    return this.#access.session(sessionId, operation, identity);
  }
}
