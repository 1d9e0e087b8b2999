import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientTransport } from '../../shared/client-transport.js';
import type { PayloadTypes } from '../../shared/contract.js';
import { installErrorTable } from '../../shared/errors.js';
import type { MethodTree } from '../../shared/method.js';
import type { HistoryPlace, ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { Application, ContentTypes } from '../apps/application.js';
import { registerApp } from '../apps/define-app.js';
import type { SessionHandle, SessionOptions } from '../apps/session-handle.js';
import type { DisconnectTarget } from '../auth/presence.js';
import type { GatewayConfig, PayloadSchemas } from '../config/config.js';
import { type ParsedConfig, parseConfig } from '../config/parse.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type {
  EraseOptions,
  ExportOptions,
  FailedNoticesOptions,
  HeldOptions,
  HeldSessionInfo,
  ImportOptions,
  ImportSource,
  WholeScope,
} from '../host/data-options.js';
import type { ExecuteOptions, SessionsOptions } from '../host/execute-options.js';
import { HostData } from '../host/host-data.js';
import { hostIdentity } from '../host/host-identity.js';
import { hostCaller, openSession } from '../host/open-session.js';
import type { LifecycleEvent, LifecycleListener } from '../lifecycle/lifecycle.js';
import type { FailedNotice } from '../notices/ledger.js';
import type { PlainOperation } from '../operations/operations.js';
import type { GatewayPlugin } from '../plugins/plugin.js';
import type { Erased } from '../sessions/erasing.js';
import { type FetchOptions, serveFetch } from '../transports/fetch/serve-fetch.js';
import { inProcessTransport } from '../transports/in-process/in-process-transport.js';
import type { HandleOptions, OperationOptions, ServedOperation } from '../transports/request.js';
import { type Assembly, assemble } from './assembly.js';
import type { StartedGateway } from './doors.js';
import { GatewayLife } from './life.js';
import { statsOf } from './stats.js';

// Bundlers may leave out the module that does this by itself.
installErrorTable();

let partsOf: (gateway: Gateway<any, any, any>) => Assembly;

/** Puts apps and methods behind one door. */
export class Gateway<
  Methods = Readonly<Record<never, never>>,
  Channels extends PayloadSchemas = Readonly<Record<never, never>>,
  Events extends PayloadSchemas = Readonly<Record<never, never>>,
  Apps extends Application = never,
> {
  /** What the gateway's type carries to its clients; it has no value. */
  declare readonly '~contract': {
    readonly methods: Methods;
    readonly channels: PayloadTypes<Channels>;
    readonly events: PayloadTypes<Events>;
    readonly content: ContentTypes<Apps>;
  };
  readonly #parts: Assembly;
  readonly #life: GatewayLife;
  readonly #data: HostData;

  static {
    partsOf = (gateway) => gateway.#parts;
  }

  /** @throws GatewayError `INVALID_REQUEST` naming each field that is wrong */
  constructor(config: GatewayConfig<Methods & MethodTree, Channels, Events>) {
    this.#parts = assemble(parseConfig(config), {
      ready: () => this.#life.readyForRequests(),
      stats: () => this.stats(),
    });
    this.#life = new GatewayLife(this.#parts);
    this.#data = new HostData({ ...this.#parts, ready: () => this.#life.ready() });
    for (const [name, app] of this.#parts.apps.entries()) {
      registerApp(app, (session, options) => this.session(`${name}:${session}`, options));
    }
  }

  get id(): string {
    return this.#parts.config.id;
  }

  /**
   * Opens the store, starts the plugins and listens: on `socketPath` where it is given, standalone also on the port. Calling it
   * again changes nothing.
   *
   * @throws GatewayError `ADDRESS_IN_USE` naming the option; `SHUTTING_DOWN` once it was closed: a gateway serves once
   */
  start(): Promise<StartedGateway> {
    return this.#life.start();
  }

  /** Serves one request; a path that is not the gateway's is answered with 404. */
  handleRequest(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): void {
    const { http } = this.#parts;
    if (!http.handle(request, response, options)) http.notFound(response);
  }

  /** Serves a request if its path is the gateway's; otherwise touches nothing and returns false. */
  tryRequest(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): boolean {
    return this.#parts.http.handle(request, response, options);
  }

  /**
   * Serves a web `Request`, for hosts that speak `fetch`: streams included, WebSockets not. Bound, so that
   * `export const GET = gateway.fetch` works; a path that is not the gateway's is answered with 404.
   */
  readonly fetch = (request: Request, options: FetchOptions = {}): Promise<Response> =>
    serveFetch((incoming, outgoing) => this.handleRequest(incoming, outgoing, options), request, options.ip);

  /**
   * Serves one operation at any URL of the host's, as its own route would: origin, authentication (unless `user` is given), and
   * params from the query or body (unless `params` are given). `events` opens a stream of events.
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
   * Does one operation for host code: as the user it names, as the one who makes a request, inside a call as the caller.
   *
   * @throws GatewayError the operation's own; `UNAUTHENTICATED` or `ORIGIN_DENIED` for a request; `INVALID_REQUEST` when users
   * have sessions of their own and none is named
   */
  async execute<Name extends PlainOperation>(
    name: Name,
    params: ParamsOf<Name>,
    options: ExecuteOptions = {},
  ): Promise<ResultOf<Name>> {
    const { config, authenticator, operations, http } = this.#parts;
    const { auth, sessionScope } = config;
    await this.#life.ready();
    if (options.by && !options.user) {
      const identity = await http.identify(options.by);
      // What the client of a request wants is as far to be trusted as that client.
      return operations.execute(name, params, hostCaller(identity, { trusted: false }));
    }
    const identity = hostIdentity({ authenticator, auth, sessionScope }, options);
    return operations.execute(name, params, hostCaller(identity));
  }

  /** Serves an upgrade to a WebSocket; one for a path that is not the gateway's is answered with 404. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): void {
    if (!this.tryUpgrade(request, socket, head, options)) this.#parts.webSocket.notFound(socket);
  }

  /** Serves an upgrade if its path is the gateway's; otherwise touches nothing and returns false. */
  tryUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options?: HandleOptions): boolean {
    return this.#parts.webSocket.handle(request, socket, head, options);
  }

  /** Attaches a plugin. @throws GatewayError `INVALID_REQUEST` when it is there already or wants a path that is taken */
  use(plugin: GatewayPlugin): this {
    this.#parts.plugins.use(plugin);
    return this;
  }

  /** Listens to what happens; call what it returns to stop. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void {
    return this.#parts.lifecycle.on(event, listener);
  }

  /** Names of the registered apps. */
  get appNames(): readonly string[] {
    return [...this.#parts.apps.entries()].map(([name]) => name);
  }

  /** Name of the app that a key without a colon means; `default` in the single form. */
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
   * @throws GatewayError `INVALID_REQUEST` for a malformed key, or outside a call when users have sessions of their own and
   * neither `user` nor `anonymous` is given; `APP_NOT_FOUND`.
   */
  session(key: string, options: SessionOptions = {}): SessionHandle<PayloadTypes<Channels>> {
    const { config, authenticator, apps, operations, connections } = this.#parts;
    const { auth, sessionScope, limits } = config;
    const { app, name } = apps.parse(key);
    const identity = hostIdentity({ authenticator, auth, sessionScope }, options);
    return openSession(
      { operations, connections, heartbeatMs: limits.heartbeatMs, ready: () => this.#life.ready() },
      apps.format(app, name),
      hostCaller(identity),
    );
  }

  /**
   * Ends all that a user has open now: event streams, sockets (4401), streams of methods, answers of plugins. Tickets of theirs are
   * worthless from then on. A token that is still good opens new ones: withdraw it first.
   *
   * @param user The user, with its tenant; or `{ userId }` for that id in every tenant.
   * @returns how many connections and streams were ended here; gateways on the same store end theirs too
   */
  disconnect(user: DisconnectTarget): number {
    return this.#parts.disconnect(user);
  }

  /**
   * A page of the open sessions of a user, or of a scope, the one that was used last first; pass `cursor` as `before` for the next one.
   *
   * @throws GatewayError `INVALID_REQUEST` outside a call when users have sessions of their own and none is named
   */
  async sessions(options: SessionsOptions = {}): Promise<ResultOf<'sessions'>> {
    const { limit, before, archived, status, query, scope, ...whose } = options;
    const params = { limit, before, archived, status, query };
    return scope === undefined ? this.execute('sessions', params, whose) : this.#data.list(scope, params);
  }

  /**
   * Drops all that is kept of a session, or of a user or scope: open and closed conversations, idempotency keys, steps, runs and their
   * outcomes, and files. Runs that are under way end as `aborted` first; who follows is told `session_closed` with the reason `deleted`,
   * or a `gap`. Asks nobody's permission. What was begun is finished also where the process ends in between: when the store is opened next.
   *
   * @param target A session's key, with `options` saying whose; or `{ user }` or `{ scope }` for all there is of it.
   * @returns how many sessions and files there were
   * @throws GatewayError `OVERLOADED` when the store can't do it now: it goes on by itself; `INVALID_REQUEST` for nobody, and for a user
   * who shares a scope
   */
  erase(target: string | WholeScope, options: EraseOptions = {}): Promise<Erased> {
    return this.#data.erase(target, options);
  }

  /**
   * Overwrites what was dropped in the store's files, for erasures with `vacuum: false`. SQLite writes its file anew: until that is done
   * nothing else is, and it takes room for another copy in the directory for temporary files.
   */
  vacuum(): Promise<void> {
    return this.#data.vacuum();
  }

  /**
   * What is kept of an open session as lines of JSON (NDJSON), oldest first, read as they are asked for. Asks nobody's permission.
   *
   * @throws GatewayError when it is iterated: `SESSION_NOT_FOUND`
   */
  export(key: string, options: ExportOptions = {}): AsyncIterable<string> {
    return this.#data.export(key, options);
  }

  /**
   * Who holds what: the sessions of any user that a shared store says are held, as they are found. Asks nobody's permission.
   *
   * @throws GatewayError when it is iterated: `INVALID_REQUEST` where the store is not shared
   */
  held(options: HeldOptions = {}): AsyncIterable<HeldSessionInfo> {
    return this.#data.held(options);
  }

  /**
   * What could not be told yet, of all users: notices that are tried again, and those that were given up. Asks nobody's permission.
   *
   * @throws GatewayError when it is iterated
   */
  failedNotices(options: FailedNoticesOptions = {}): AsyncIterable<FailedNotice> {
    return this.#data.notices(options);
  }

  /**
   * Has what could not be told be sent again at once, also what was given up.
   *
   * @param id Of one of `failedNotices`, or of a notice: for all targets that it could not be told
   * @returns how many are sent again
   */
  resendNotice(id: string): Promise<number> {
    return this.#data.resend(id);
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
   * Copies all that the store keeps, as it is at one moment, while the gateway goes on. A gateway whose store has the copy for its `path`
   * goes on from there.
   *
   * @param path Of the copy; files go into `<path>.files`. There must be nothing yet.
   * @throws GatewayError `INVALID_REQUEST` where there is something, and for stores without backups; `STORE_FAILED`
   */
  backup(path: string): Promise<void> {
    return this.#data.backup(path);
  }

  /** What it has on its hands now, for metrics. */
  stats(): GatewayStats {
    return statsOf(this.#parts);
  }

  /** Drains: turns new work away, tells streams to reconnect, lets runs finish within `limits.drainMs`, stores everything. */
  close(): Promise<void> {
    return this.#life.close();
  }
}

/** The inferred tree, or none where no methods were given. */
export type GivenMethods<Methods> = MethodTree extends Methods ? Readonly<Record<never, never>> : Methods;

/**
 * Reaches a gateway of this process, for `createClient({ transport })` in host code and tests: the same operations, limits and
 * events as over a network, without one.
 *
 * @throws GatewayError `INVALID_REQUEST` when users have sessions of their own and none is named
 *
 * @example
 * ```ts
 * const client = createClient<typeof gateway>({ transport: createInProcessTransport(gateway, { user: { id: 'alice' } }) });
 * const { message } = await client.send('main', 'Hello').result;
 * ```
 */
export function createInProcessTransport(
  gateway: Gateway<any, any, any>,
  options: SessionOptions = {},
): ClientTransport {
  const parts = partsOf(gateway);
  const { auth, sessionScope } = parts.config;
  return inProcessTransport(parts, hostIdentity({ ...parts, auth, sessionScope }, options));
}

/** How a gateway was made to be served. */
export function hostingOf(gateway: Gateway<any, any, any>): Pick<ParsedConfig, 'embedded' | 'extraRoutes'> {
  const { embedded, extraRoutes } = partsOf(gateway).config;
  return { embedded, extraRoutes };
}

/** Whether an upgrade may be for a gateway, wherever it is mounted. */
export function mayUpgrade(gateway: Gateway<any, any, any>, path: string): boolean {
  return partsOf(gateway).webSocket.mayTake(path);
}

/**
 * Starts an embedded gateway for a host that does not wait for it, once the host's own code has attached its plugins and listeners.
 * What goes wrong goes to the log; whoever calls `start()` hears of it too.
 */
export function startForHost(gateway: Gateway<any, any, any>): void {
  const { config, state, report } = partsOf(gateway);
  // One that is to listen on a port is started by whoever made it.
  if (!config.embedded) return;
  setImmediate(() => {
    if (state.draining) return;
    gateway.start().catch((error: unknown) => {
      if (!state.draining) report(error, 'starting the gateway');
    });
  });
}
