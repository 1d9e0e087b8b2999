import { GatewayError } from '../../shared/errors.js';
import type { SubscriptionInfo } from '../../shared/events.js';
import type { FeatureHostCalls, FeatureOperations } from '../../shared/features.js';
import type { UploadedFile } from '../../shared/files/contract.js';
import type { ResultOf, SubscribeTarget } from '../../shared/operation-types.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import type { RunOperation } from '../../shared/operations.js';
import type { OperationWords } from '../../shared/words.js';
import type { ToolOutput } from '../apps/tool.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { SharedTimer } from '../async/shared-timer.js';
import type { AccessedOperation } from '../config/access.js';
import type { EventConnection } from '../delivery/connection.js';
import type { Upload } from '../files/uploads.js';
import { ReadTurns } from '../limits/read-turns.js';
import { SessionRoom } from '../limits/session-room.js';
import { asUnavailable } from '../log/unavailable.js';
import { exportItems } from '../sessions/export.js';
import type { ConfirmationListener, ToolProgressListener } from '../sessions/session-calls.js';
import { Access } from './access.js';
import { type AuditedCall, audited, noteOverseen } from './audited.js';
import { type AdmittedCall, type Handlers, type PlainOperation, SessionCall } from './call.js';
import type { Caller } from './caller.js';
import { changeOperations } from './change-operations.js';
import { controlOperations } from './control-operations.js';
import { assertOpen, type OperationEnvironment } from './environment.js';
import type { HostHandlers } from './feature.js';
import { FileOperations, type ReadableFile } from './file-operations.js';
import { GrantOperations, guestDenied } from './grant-operations.js';
import { importOperations } from './import-operations.js';
import {
  type Invocation,
  InvokeCall,
  type InvokeEnvironment,
  type InvokeOptions,
  invokeMethod,
  type StreamInvocation,
  streamOwn,
} from './invoke.js';
import type { Authorize, OperationParts } from './operation-parts.js';
import { readInvoke, readParams } from './params.js';
import { asReached, byGrant, type Reach } from './reach.js';
import { ReadOperations, type SentRun } from './read-operations.js';
import { type DurableCall, type FollowableRun, SendOperations, type Sent } from './send-operations.js';
import { serviceOperations } from './service-operations.js';
import { Subscriptions } from './subscriptions.js';

export type { PlainOperation } from './call.js';

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
  readonly #following: Subscriptions;
  readonly #invokeEnv: InvokeEnvironment;
  readonly #parts: OperationParts;
  readonly #turns: ReadTurns;
  readonly #handlers: Handlers;
  readonly #hostCalls: HostHandlers;
  readonly #after = new Map<string, readonly ((call: SessionCall) => Promise<void>)[]>();

  constructor(env: OperationEnvironment) {
    this.#env = env;
    this.#access = new Access(env);
    this.#room = new SessionRoom(env.store, env.quotas);
    this.#turns = new ReadTurns((person) => env.quotas.readsAtOnce(person));
    const authorize: Authorize = (...asked) => this.#authorize(...asked);
    this.#following = new Subscriptions(env, authorize);
    const { calls, limits } = env;
    const { methodMs: timeoutMs, guardMs } = limits;
    const bounds = { timeoutMs, guardMs, timer: new SharedTimer(), ended: calls.end };
    this.#invokeEnv = { ...env, access: this.#access, bounds };
    const files = new FileOperations(env, this.#access);
    const parts = { access: this.#access, authorize, files, room: this.#room };
    this.#parts = parts;
    this.#sending = new SendOperations(env, parts);
    const sharing = new GrantOperations(env, this.#access);
    this.#reading = new ReadOperations(env, { access: this.#access, sharing });
    this.#handlers = {
      subscribe: (params, { caller }) => this.#following.subscribe(params, caller.person),
      ...this.#sending.handlers,
      ...sharing.handlers,
      ...this.#reading.handlers,
      ...changeOperations(env, parts),
      ...controlOperations(env),
      ...importOperations(env, parts),
      ...serviceOperations(env, parts),
      ...(Object.assign({}, ...env.features.map((feature) => feature.operations?.(env, parts))) as Handlers<
        keyof FeatureOperations
      >),
    };
    for (const { after = {} } of env.features)
      for (const [name, follow] of Object.entries(after))
        this.#after.set(name, [...(this.#after.get(name) ?? []), follow]);
    this.#hostCalls = Object.assign({}, ...env.features.map((feature) => feature.hostCalls?.(env)));
  }

  /**
   * Runs one of the plain operations. Its words say what is asked first, in the same order for all: drain and rate, params, the session and the
   * caller's right to it, room. Then its own code runs.
   *
   * @throws GatewayError
   */
  execute<Name extends PlainOperation>(
    name: Name,
    raw: unknown,
    caller: Caller,
  ): MaybePromise<ResultOf<Name>> {
    const words = OPERATION_WORDS[name];
    this.#admit(words, raw, caller);
    const done =
      words.rate === 'reads'
        ? this.#turns.run(caller.person, () => this.#perform(name, raw, caller))
        : words.audit
          ? this.#noted({ act: name, caller, params: raw, names: words.audit }, (call) =>
              this.#perform(name, raw, caller, call),
            )
          : this.#perform(name, raw, caller);
    return done as MaybePromise<ResultOf<Name>>;
  }

  #noted<Result>(call: AuditedCall, work: (call: AuditedCall) => MaybePromise<Result>): MaybePromise<Result> {
    return audited(this.#env.audit, call, () => work(call));
  }

  #admit({ rate, isNew, cost }: OperationWords, raw: unknown, { person }: Caller): void {
    const { quotas } = this.#env;
    if (isNew || rate === 'sends') assertOpen(this.#env);
    if (rate === 'none') return;
    // The params are not checked yet, and nobody is paid for asking.
    quotas[rate].take(person, cost && Math.max(1, cost((raw ?? {}) as Record<string, unknown>)));
  }

  #perform(name: PlainOperation, raw: unknown, caller: Caller, noted?: AuditedCall): MaybePromise<unknown> {
    return asUnavailable<unknown>(() => {
      const { least, fills, rate } = OPERATION_WORDS[name];
      const params = readParams(name, raw);
      const handler = this.#handlers[name] as (params: unknown, call: AdmittedCall) => MaybePromise<unknown>;
      const { sessionId, grantId } = params as { readonly sessionId?: string; readonly grantId?: string };
      // A connection's sessions are authorized one by one.
      if (sessionId === undefined || name === 'subscribe') {
        if (caller.person.link && least === 'owner') throw guestDenied(name);
        return handler(params, { caller });
      }
      const reached = this.#authorize(sessionId, name, caller, grantId);
      // A send that was called before takes a moment more than a change, which must not overtake it.
      return andThen(rate === 'reads' ? reached : Promise.resolve(reached), (reach) => {
        if (noted) noted.reach = reach;
        const call = new SessionCall(this.#env, caller, reach);
        const run = (): MaybePromise<unknown> => this.#followed(name, call, handler(params, call));
        return fills ? andThen(this.#room.check(reach.ref, reach.via !== undefined), run) : run();
      });
    });
  }

  /** Lets features do what follows an operation. */
  #followed(name: PlainOperation, call: SessionCall, result: MaybePromise<unknown>): MaybePromise<unknown> {
    const after = this.#after.get(name);
    if (!after) return result;
    return andThen(result, async (answer) => {
      for (const follow of after) await follow(call);
      return answer;
    });
  }

  /** Sends a message, or answers one again; resolves once it is accepted. @throws GatewayError */
  start(name: RunOperation, raw: unknown, caller: Caller, behind?: string | null): Promise<Sent> {
    return this.#sending.start(name, raw, caller, behind);
  }

  /** Follows any run of a session to its outcome. @throws GatewayError `RUN_NOT_FOUND`, also for a run that the caller may not see */
  async follow(raw: unknown, caller: Caller): Promise<FollowableRun> {
    const { runId, sessionId } = readParams('run', raw);
    const reach = await this.#authorize(sessionId, 'run', caller);
    const { session, record, cursor } = await asUnavailable(() => this.#reading.find(runId, reach));
    return {
      runId: record.runId,
      session: asReached(session, reach),
      cursor,
      result: this.#sending.shown(session.results.ofStored(record), reach, 'run', caller),
    };
  }

  /** Finds the run that an idempotency key began; null if there is none. */
  sent(
    { sessionId, key }: { readonly sessionId: string; readonly key: string },
    caller: Caller,
  ): MaybePromise<SentRun | null> {
    return andThen(this.#authorize(sessionId, 'run', caller), (reach) =>
      asUnavailable(() => this.#reading.sent(key, reach)),
    );
  }

  /** Calls a custom method. Synchronous if the method is. @throws GatewayError */
  invoke(raw: unknown, caller: Caller, options: InvokeOptions = {}): MaybePromise<Invocation> {
    const params = readInvoke(raw);
    assertOpen(this.#env);
    this.#env.quotas.invokes.take(caller.person);
    if (params.sessionId === undefined && caller.person.link) throw guestDenied('methods');
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
  callTool({ sessionId, name, ...call }: ToolCallRequest, caller: Caller): MaybePromise<ToolOutput> {
    assertOpen(this.#env);
    this.#env.quotas.invokes.take(caller.person);
    return andThen(this.#authorize(sessionId, 'tool-call', caller), ({ ref, via }) => {
      // The grant hides tool output, so the caller must not see the result.
      if (via?.view.hides('toolOutput')) throw new GatewayError({ code: 'ACCESS_DENIED' });
      return this.#env.sessions.get(ref).calls.call({
        name,
        ...call,
        user: caller.person.user,
        givenBy: caller.person.link?.givenBy,
        ...{ signal: caller.signal, timeoutMs: this.#env.limits.methodMs },
      });
    });
  }

  /** Calls a tool in a run of its own, which outlives its caller. @throws GatewayError the reason why it was not begun */
  beginCall(call: DurableCall, caller: Caller): Promise<Sent> {
    this.#env.quotas.invokes.take(caller.person);
    return this.#sending.call(call, caller);
  }

  /**
   * Streams everything that is kept of a session. Nothing is read before the stream is opened.
   *
   * @throws GatewayError `INVALID_PARAMS`, `TOO_MANY_CONNECTIONS`, `RATE_LIMITED`
   */
  export(raw: unknown, caller: Caller): MaybePromise<StreamInvocation> {
    const { sessionId, what = 'messages' } = readParams('export', raw);
    this.#env.quotas.reads.take(caller.person);
    const begin = async (noted: AuditedCall) => {
      const reach = await this.#authorize(sessionId, 'export', caller);
      noted.reach = reach;
      const { ref, via, ...named } = reach;
      const session = await asUnavailable(() => this.#env.sessions.existing(ref));
      return exportItems(session, what, { sessionId: named.sessionId, view: via?.view });
    };
    const call = { act: 'export', caller, params: raw, names: OPERATION_WORDS.export.audit ?? [] };
    return streamOwn(
      this.#invokeEnv,
      { operation: 'export', sessionId, caller },
      async () => await this.#noted(call, begin),
    );
  }

  /** Stores an uploaded file. @throws GatewayError */
  upload(upload: Upload, caller: Caller): Promise<UploadedFile> {
    if (caller.person.link) throw guestDenied('uploads');
    return this.#parts.files.upload(upload, caller);
  }

  /** Finds a file. @param sessionId A session that names it @throws GatewayError `FILE_NOT_FOUND`, also for a file that the caller may not read */
  file(fileId: string, caller: Caller, sessionId?: string): Promise<ReadableFile> {
    return this.#parts.files.find(fileId, caller, sessionId);
  }

  /** Closes a session and drops everything that is kept of it. Does nothing if the session has not begun. @throws GatewayError */
  async discard(sessionId: string, caller: Caller): Promise<void> {
    const call = { act: 'delete', caller, params: { sessionId }, names: [] };
    await this.#noted(call, async (noted) => {
      noted.reach = await this.#authorize(sessionId, 'close', caller);
      await asUnavailable(() => this.#env.sessions.discard(noted.reach!.ref));
    });
  }

  /** Does a feature's call on a session for host code. @throws GatewayError */
  async forHost<Name extends keyof FeatureHostCalls>(
    name: Name,
    params: FeatureHostCalls[Name]['params'],
    caller: Caller,
  ): Promise<FeatureHostCalls[Name]['result']> {
    const { audit } = (OPERATION_WORDS as Readonly<Record<string, OperationWords>>)[name] ?? {};
    const does = (noted?: AuditedCall) =>
      asUnavailable(async () => {
        const reach = await this.#authorize(params.sessionId, name, caller);
        if (noted) noted.reach = reach;
        return this.#hostCalls[name](params, new SessionCall(this.#env, caller, reach));
      });
    return audit ? this.#noted({ act: name, caller, params, names: [...audit, 'by'] }, does) : does();
  }

  /** Lists all open sessions of a scope, for the host, without access checks. @throws GatewayError */
  async sessionsIn(scope: string, raw: unknown): Promise<ResultOf<'sessions'>> {
    const params = readParams('sessions', raw);
    return asUnavailable(() => this.#reading.list(scope, params, () => true));
  }

  /** The apps that a caller may use. */
  appsOf(person: Caller['person']): MaybePromise<ResultOf<'apps'>['apps']> {
    return this.#access.apps(person);
  }

  /** Renews the identity of a connection after revalidation. @throws GatewayError when the caller lost access to a followed session */
  renew(connection: EventConnection, person: Caller['person']): Promise<void> {
    return this.#following.renew(connection, person);
  }

  /** Sends a new connection its subscriptions, then begins them. @returns the description of each session @throws GatewayError */
  open(
    connection: EventConnection,
    targets: readonly SubscribeTarget[],
    protocol?: number,
  ): Promise<Readonly<Record<string, SubscriptionInfo>>> {
    return this.#following.open(connection, targets, protocol);
  }

  #authorize(
    sessionId: string,
    operation: AccessedOperation,
    caller: Pick<Caller, 'person'>,
    ownGrant?: string,
  ): MaybePromise<Reach> {
    const { person } = caller;
    this.#env.quotas.meet(person);
    const reached = this.#access.session(sessionId, operation, person, ownGrant);
    if (!this.#env.oversight) return reached;
    return andThen(reached, (reach) => noteOverseen(this.#env.audit, caller, reach));
  }
}
