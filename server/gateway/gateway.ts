import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UsageRow } from '../../shared/budgets/contract.js';
import type { GatewayBudgets, HostUsageQuery } from '../../shared/budgets/options.js';
import type { PayloadTypes } from '../../shared/contract.js';
import { installErrorTable } from '../../shared/errors.js';
import type { MethodTree } from '../../shared/method.js';
import type { FailedNotice, FailedNoticesOptions } from '../../shared/notices/contract.js';
import type { HistoryPlace, ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { Application } from '../apps/application.js';
import type { ContentTypes } from '../apps/content-types.js';
import { registerApp } from '../apps/define-app.js';
import type { SessionHandle, SessionOptions } from '../apps/session-handle.js';
import type { DisconnectTarget } from '../auth/presence.js';
import type { GatewayConfig, PayloadSchemas } from '../config/config.js';
import { parseConfig } from '../config/parse.js';
import type { Desk } from '../desk/desk.js';
import { type DeskQuestion, readQuestion } from '../desk/questions.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { DeadWork } from '../due/dead.js';
import { FEATURE_CONFIG } from '../features/features.js';
import type {
  DoneBy,
  EraseOptions,
  ExportOptions,
  HeldOptions,
  HeldSessionInfo,
  ImportOptions,
  ImportSource,
  WholeScope,
} from '../host/data-options.js';
import type { Deploys } from '../host/deploys.js';
import type { ExecuteOptions, SessionsOptions } from '../host/execute-options.js';
import { HostData } from '../host/host-data.js';
import type { LifecycleEvent, LifecycleListener } from '../lifecycle/lifecycle.js';
import type { PlainOperation } from '../operations/operations.js';
import type { GatewayPlugin } from '../plugins/plugin.js';
import type { Erased } from '../sessions/eraser.js';
import { type FetchOptions, serveFetch } from '../transports/fetch/serve-fetch.js';
import type { HandleOptions, OperationOptions, ServedOperation } from '../transports/request.js';
import { type Assembly, assemble } from './assembly.js';
import { deskOf } from './desk.js';
import type { StartedGateway } from './doors.js';
import { executeFor, sessionFor } from './for-host.js';
import { GatewayLife } from './life.js';
import { keepParts } from './parts.js';
import { statsOf } from './stats.js';

// Bundlers may drop the module that does this on import.
installErrorTable();

/** Serves apps and methods behind one door. */
export class Gateway<
  Methods = Readonly<Record<never, never>>,
  Channels extends PayloadSchemas = Readonly<Record<never, never>>,
  Events extends PayloadSchemas = Readonly<Record<never, never>>,
  Apps extends Application = never,
> {
  /** The type of the gateway for its clients. It has no value. */
  declare readonly '~contract': {
    readonly methods: Methods;
    readonly channels: PayloadTypes<Channels>;
    readonly events: PayloadTypes<Events>;
    readonly content: ContentTypes<Apps>;
  };
  readonly #parts: Assembly;
  readonly #life: GatewayLife;
  readonly #data: HostData;
  readonly #desk: Desk;

  /** @throws GatewayError `INVALID_REQUEST` naming each wrong field */
  constructor(config: GatewayConfig<Methods & MethodTree, Channels, Events>) {
    this.#parts = assemble(parseConfig(config, FEATURE_CONFIG), {
      ready: () => this.#life.readyForRequests(),
      stats: () => this.stats(),
      desk: (body) => this.#desk.lines(body),
    });
    keepParts(this, this.#parts);
    this.#life = new GatewayLife(this.#parts);
    this.#data = new HostData({ ...this.#parts, ready: () => this.#life.ready() });
    this.#desk = deskOf(this.#parts, this.#data, () => this.#life.ready());
    for (const [name, app] of this.#parts.apps.entries()) {
      registerApp(app, (session, options) => this.session(`${name}:${session}`, options));
    }
  }

  /** Runs that outlive the code that began them. */
  get deploys(): Deploys {
    return this.#parts.features.find(({ deploys }) => deploys)!.deploys!;
  }

  get id(): string {
    return this.#parts.config.id;
  }

  /**
   * Opens the store, starts the plugins and listens: on `socketPath` if given, and on the port if standalone. A second call changes
   * nothing.
   *
   * @throws GatewayError `ADDRESS_IN_USE` naming the option; `SHUTTING_DOWN` after `close()`: a gateway serves once
   */
  start(): Promise<StartedGateway> {
    return this.#life.start();
  }

  /** Serves a request. A path that is not the gateway's is answered with 404. */
  handleRequest(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): void {
    const { http } = this.#parts;
    if (!http.handle(request, response, options)) http.notFound(request, response, options);
  }

  /** Serves a request if its path is the gateway's. Otherwise leaves it alone and returns false. */
  tryRequest(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): boolean {
    return this.#parts.http.handle(request, response, options);
  }

  /**
   * Serves a web `Request`, for hosts that use `fetch`: streams included, WebSockets not. Bound, so that `export const GET = gateway.fetch`
   * works. A path that is not the gateway's is answered with 404.
   */
  readonly fetch = (request: Request, options: FetchOptions = {}): Promise<Response> =>
    serveFetch((incoming, outgoing) => this.handleRequest(incoming, outgoing, options), request, options.ip);

  /**
   * Serves one operation at any URL of the host, as its own route would: checks the origin, authenticates (unless `user` is given), and
   * reads params from the query or body (unless `params` are given). `events` opens a stream of events.
   */
  handleOperation(
    name: ServedOperation,
    request: IncomingMessage,
    response: ServerResponse,
    options: OperationOptions = {},
  ): void {
    this.#parts.http.serve(request, response, { name, options });
  }

  /**
   * Does one operation for host code: as the named user, as the sender of a request, or inside a call as its caller.
   *
   * @throws GatewayError as the operation; `UNAUTHENTICATED` or `ORIGIN_DENIED` for a request; `INVALID_REQUEST` if users have their own
   * sessions and none is named
   */
  async execute<Name extends PlainOperation>(
    name: Name,
    params: ParamsOf<Name>,
    options: ExecuteOptions = {},
  ): Promise<ResultOf<Name>> {
    await this.#life.ready();
    return executeFor(this.#parts, name, params, options);
  }

  /** Serves an upgrade to a WebSocket. A path that is not the gateway's is answered with 404. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): void {
    if (!this.tryUpgrade(request, socket, head, options))
      this.#parts.webSocket.notFound(request, socket, options);
  }

  /** Serves an upgrade if its path is the gateway's. Otherwise leaves it alone and returns false. */
  tryUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): boolean {
    return this.#parts.webSocket.handle(request, socket, head, options);
  }

  /** Attaches a plugin. @throws GatewayError `INVALID_REQUEST` if it is attached already or wants a path that is taken */
  use(plugin: GatewayPlugin): this {
    this.#parts.plugins.use(plugin);
    return this;
  }

  /** Adds a listener of lifecycle events. Call the returned function to remove it. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void {
    return this.#parts.lifecycle.on(event, listener);
  }

  /** Names of the registered apps. */
  get appNames(): readonly string[] {
    return [...this.#parts.apps.entries()].map(([name]) => name);
  }

  /** Name of the app for keys without a colon; `default` in the single form. */
  get defaultApp(): string {
    return this.#parts.apps.defaultApp;
  }

  /** A registered app. @throws GatewayError `APP_NOT_FOUND` */
  app(name: string): Application {
    return this.#parts.apps.get(name);
  }

  /**
   * A session for host code. Inside a method call the key is in the caller's scope.
   *
   * @throws GatewayError `INVALID_REQUEST` for a malformed key, or outside a call if users have their own sessions and neither `user` nor
   * `anonymous` is given; `APP_NOT_FOUND`.
   */
  session(key: string, options: SessionOptions = {}): SessionHandle<PayloadTypes<Channels>> {
    return sessionFor(this.#parts, () => this.#life.ready(), key, options);
  }

  /**
   * Ends everything that a user has open: event streams, sockets (4401), streams of methods, answers of plugins. Voids the user's tickets.
   * A valid token can open new ones, so withdraw it first.
   *
   * @param user The user, with its tenant; or `{ userId }` for that id in every tenant.
   * @returns the number of connections and streams ended here; gateways on the same store end theirs too
   */
  disconnect(user: DisconnectTarget): number {
    return this.#parts.disconnect(user);
  }

  /**
   * A page of the open sessions of a user or scope, the last used first. Pass `cursor` as `before` for the next page.
   *
   * @throws GatewayError `INVALID_REQUEST` outside a call if users have their own sessions and none is named
   */
  async sessions(options: SessionsOptions = {}): Promise<ResultOf<'sessions'>> {
    const { limit, before, archived, status, query, scope, ...whose } = options;
    const params = { limit, before, archived, status, query };
    return scope === undefined ? this.execute('sessions', params, whose) : this.#data.list(scope, params);
  }

  /**
   * Drops everything that is kept of a session, a user or a scope: open and closed conversations, idempotency keys, steps, runs and their
   * outcomes, and files. Runs under way end as `aborted` first. Followers receive `session_closed` with the reason `deleted`, or a `gap`.
   * There is no access check. If the process ends in between, the erasure continues when the store is next opened.
   *
   * @param target A session's key, with `options` naming its owner; or `{ user }` or `{ scope }` for everything there.
   * @returns the numbers of sessions and files
   * @throws GatewayError `OVERLOADED` if the store can't do it now, and the erasure continues by itself; `INVALID_REQUEST` without a user,
   * and for a user who shares a scope
   */
  erase(target: string | WholeScope, options: EraseOptions = {}): Promise<Erased> {
    return this.#data.erase(target, options);
  }

  /**
   * Overwrites dropped data in the store's files, after erasures with `vacuum: false`. SQLite rewrites its file: nothing else runs until
   * that is done, and the directory for temporary files needs room for a copy.
   */
  vacuum(): Promise<void> {
    return this.#data.vacuum();
  }

  /**
   * The contents of an open session as lines of JSON (NDJSON), oldest first, read as you ask for them. There is no access check.
   *
   * @throws GatewayError during iteration: `SESSION_NOT_FOUND`
   */
  export(key: string, options: ExportOptions = {}): AsyncIterable<string> {
    return this.#data.export(key, options);
  }

  /**
   * The sessions of all users that a shared store says are held, with their holders, in no order. There is no access check.
   *
   * @throws GatewayError during iteration: `INVALID_REQUEST` if the store is not shared
   */
  held(options: HeldOptions = {}): AsyncIterable<HeldSessionInfo> {
    return this.#data.held(options);
  }

  /**
   * Usage of all users, or in one session. Grouped by the fields of `by`. There is no access check.
   *
   * @throws GatewayError `OVERLOADED`
   */
  async usage(query: HostUsageQuery = {}): Promise<readonly UsageRow[]> {
    return (await this.#data.features()).usage(query);
  }

  /** Budgets that are set at run time, at all gateways of the store. */
  get budgets(): GatewayBudgets {
    return this.#data.budgets;
  }

  /**
   * The undelivered notices of all users: those that are tried again, and those given up. There is no access check.
   *
   * @throws GatewayError during iteration
   */
  async *failedNotices(options: FailedNoticesOptions = {}): AsyncIterable<FailedNotice> {
    yield* (await this.#data.features()).failedNotices(options);
  }

  /**
   * Sends undelivered notices again at once, also those given up.
   * @param id Id of an item of `failedNotices`; or of a notice, for all targets that did not receive it
   * @returns the number that is sent again
   */
  resendNotice(id: string): Promise<number> {
    return this.#data.resendNotice(id);
  }

  /** All due work that failed until it was given up: schedules, deliveries and others. There is no access check. */
  deadWork(): AsyncIterable<DeadWork> {
    return this.#data.dead();
  }

  /** Has given-up work tried again at once. @param id Id of an item of `deadWork` @returns whether it was there and nothing replaced it */
  retryWork(id: string): Promise<boolean> {
    return this.#data.retry(id);
  }

  /**
   * Begins a session with the messages of an export, of this gateway or another one.
   *
   * @param source Lines of JSON, as text or bytes in pieces of any size, or messages.
   * @throws GatewayError `SESSION_EXISTS`, `FILE_NOT_FOUND`, `INVALID_PARAMS` naming the field
   */
  import(key: string, source: ImportSource, options: ImportOptions = {}): Promise<HistoryPlace> {
    return this.#data.import(key, source, options);
  }

  /**
   * Copies everything in the store, as of one moment, while the gateway runs. A gateway whose store has the copy as its `path` continues
   * from there.
   *
   * @param path Path of the copy; files go into `<path>.files`. Nothing may be there yet.
   * @throws GatewayError `INVALID_REQUEST` if something is there, and for stores without backups; `STORE_FAILED`
   */
  backup(path: string, options: DoneBy = {}): Promise<void> {
    return this.#data.backup(path, options);
  }

  /**
   * Asks the operators' desk, or has it act. There is no access check, and no text of a conversation in the rows.
   * @param options.elsewhere Whether a gateway that serves answers, if there is one on the store
   * @throws GatewayError during iteration
   */
  desk(
    question: DeskQuestion,
    { elsewhere = false }: { readonly elsewhere?: boolean } = {},
  ): AsyncIterable<object> {
    const read = readQuestion(question);
    return elsewhere ? this.#desk.askElsewhere(read) : this.#desk.ask(read);
  }

  /** The present numbers of the gateway, for metrics. */
  stats(): GatewayStats {
    return statsOf(this.#parts);
  }

  /** Drains: refuses new work, tells streams to reconnect, lets runs finish within `limits.drainMs`, and stores everything. */
  close(): Promise<void> {
    return this.#life.close();
  }
}

/** The inferred tree, or an empty one if no methods were given. */
export type GivenMethods<Methods> = MethodTree extends Methods ? Readonly<Record<never, never>> : Methods;
