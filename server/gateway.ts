import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientTransport } from '../shared/client-transport.js';
import type { PayloadTypes } from '../shared/contract.js';
import { GatewayError, installErrorTable } from '../shared/errors.js';
import type { MethodTree } from '../shared/method.js';
import type { ParamsOf, ResultOf } from '../shared/operation-types.js';
import type { Application, ContentTypes } from './apps/application.js';
import { registerApp } from './apps/define-app.js';
import type { SessionHandle, SessionOptions } from './apps/session-handle.js';
import { type Assembly, assemble } from './assembly.js';
import { within } from './async/deadline.js';
import { isPromise } from './async/maybe-promise.js';
import type { DisconnectTarget } from './auth/presence.js';
import type { GatewayConfig, PayloadSchemas } from './config/config.js';
import { type ParsedConfig, parseConfig } from './config/parse.js';
import { Doors, type StartedGateway } from './doors.js';
import type { ExecuteOptions, SessionsOptions } from './host/execute-options.js';
import { hostIdentity } from './host/host-identity.js';
import { hostCaller, openSession } from './host/open-session.js';
import type { LifecycleEvent, LifecycleListener } from './lifecycle/lifecycle.js';
import type { PlainOperation } from './operations/operations.js';
import type { GatewayPlugin } from './plugins/plugin.js';
import { drainSessions } from './sessions/drain.js';
import { type GatewayStats, statsOf } from './stats.js';
import { type FetchOptions, serveFetch } from './transports/fetch/serve-fetch.js';
import { inProcessTransport } from './transports/in-process/in-process-transport.js';
import type { HandleOptions, OperationOptions, ServedOperation } from './transports/request.js';

// Bundlers may leave out the module that does this by itself.
installErrorTable();

const SWEEP_MS = 30_000;
const FILE_SWEEP_MS = 10 * 60_000;
const RUN_AGE_MS = 24 * 3_600_000;
/** What finishing responses may take once all runs have ended. */
const CLOSE_GRACE_MS = 1000;

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
  readonly #doors: Doors;
  #opening: Promise<void> | null = null;
  #recovered: Promise<void> = Promise.resolve();
  #started: Promise<StartedGateway> | null = null;
  #sweeper: NodeJS.Timeout | undefined;
  #fileSweeper: NodeJS.Timeout | undefined;
  #closed: Promise<void> | null = null;

  static {
    partsOf = (gateway) => gateway.#parts;
  }

  /** @throws GatewayError `INVALID_REQUEST` naming each field that is wrong */
  constructor(config: GatewayConfig<Methods & MethodTree, Channels, Events>) {
    this.#parts = assemble(parseConfig(config), () => this.#readyForRequests());
    this.#doors = new Doors(this.#parts);
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
    if (this.#closed) return Promise.reject(closedForGood());
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<StartedGateway> {
    const { lifecycle, plugins } = this.#parts;
    await this.#ready();
    await plugins.start();
    const started = await this.#doors.open();
    lifecycle.emit('started', started.url === undefined ? {} : { url: started.url });
    return started;
  }

  /** Opens the store on first use; null once it is open. */
  #ready(): Promise<void> | null {
    if (this.#parts.state.open) return null;
    if (this.#closed) return Promise.reject(closedForGood());
    this.#opening ??= this.#openStore();
    return this.#opening;
  }

  /** The same for callers, who are not told what is wrong with the store. */
  #readyForRequests(): Promise<void> | null {
    return (
      this.#ready()?.catch((error: unknown) => {
        if (this.#closed) throw closedForGood();
        this.#parts.report(error, 'opening the store');
        throw new GatewayError({
          code: 'OVERLOADED',
          message: 'The store cannot be opened',
          retryAfterMs: 1000,
          cause: error,
        });
      }) ?? null
    );
  }

  async #openStore(): Promise<void> {
    const { config, sessions, files, apps, report, now: clock } = this.#parts;
    try {
      const opened = config.store.open();
      if (isPromise(opened)) await opened;
      this.#parts.state.open = true;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
    this.#recovered = sessions
      .recover(({ app }) => !this.#closed && apps.has(app))
      .catch((error: unknown) => report(error, 'recovering sessions'));
    this.#sweeper = setInterval(() => {
      const { ageMs } = config.limits.retention;
      const now = clock();
      sessions.sweep().catch((error: unknown) => report(error, 'sweeping sessions'));
      const before = { runs: now - Math.max(RUN_AGE_MS, ageMs), closedLogs: now - ageMs };
      Promise.resolve()
        .then(() => config.store.expire(before))
        .catch((error: unknown) => report(error, 'expiring records'));
    }, SWEEP_MS).unref();
    this.#fileSweeper = setInterval(
      () => files.sweep().catch((error: unknown) => report(error, 'sweeping files')),
      Math.min(FILE_SWEEP_MS, Math.max(50, config.limits.unnamedFileMs / 4)),
    ).unref();
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
    await this.#ready();
    const identity =
      options.by && !options.user
        ? await http.identify(options.by)
        : hostIdentity({ authenticator, auth, sessionScope }, options);
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
      { operations, connections, heartbeatMs: limits.heartbeatMs, ready: () => this.#ready() },
      apps.format(app, name),
      hostCaller(identity),
    );
  }

  /**
   * Ends all that a user has open now: event streams, sockets (4401), streams of methods, answers of plugins. Tickets of theirs are
   * worthless from then on. A token that is still good opens new ones: withdraw it first.
   *
   * @param user The user, with its tenant; or `{ userId }` for that id in every tenant.
   * @returns how many connections and streams were ended
   */
  disconnect(user: DisconnectTarget): number {
    return this.#parts.disconnect(user);
  }

  /**
   * A page of a user's open sessions, the most recently created first; pass `cursor` as `before` for the next one.
   *
   * @throws GatewayError `INVALID_REQUEST` outside a call when users have sessions of their own and none is named
   */
  async sessions({ limit, before, ...options }: SessionsOptions = {}): Promise<ResultOf<'sessions'>> {
    return this.execute('sessions', { limit, before }, options);
  }

  /** What it has on its hands now, for metrics. */
  stats(): GatewayStats {
    return statsOf(this.#parts);
  }

  /** Drains: turns new work away, tells streams to reconnect, lets runs finish within `limits.drainMs`, stores everything. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { config, state, connections, calls, sessions, plugins, lifecycle } = this.#parts;
    state.draining = true;
    await this.#started?.catch(() => {});
    // A store that is being opened for a first request is opened, and then closed with the rest.
    await this.#opening?.catch(() => {});
    connections.drain();
    plugins.drain();
    const { storeMs } = config.limits;
    await within(this.#recovered, storeMs);
    await drainSessions(sessions, {
      drainMs: config.limits.drainMs,
      storeMs,
      handOver: config.store.durability !== 'memory',
      others: calls.idle(),
    });
    calls.endStreams(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
    connections.endAll();
    await plugins.destroy();
    await this.#doors.close(CLOSE_GRACE_MS);
    clearInterval(this.#sweeper);
    clearInterval(this.#fileSweeper);
    if (state.open) await this.#closeStore();
    lifecycle.emit('stopped', {});
  }

  async #closeStore(): Promise<void> {
    const { config, report } = this.#parts;
    try {
      const closed = await within(Promise.resolve(config.store.close()), config.limits.storeMs);
      if (!closed) throw new GatewayError({ code: 'TIMEOUT', message: 'The store did not close in time' });
    } catch (error) {
      report(error, 'closing the store');
    }
  }
}

function closedForGood(): GatewayError {
  return new GatewayError({
    code: 'SHUTTING_DOWN',
    message: 'The gateway was closed and does not start again; make another one',
    retryable: false,
  });
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
