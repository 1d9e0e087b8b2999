import type { Application } from './apps/application.js';
import { AppRegistry } from './apps/registry.js';
import { createAgeClock } from './async/age-clock.js';
import { isLoopback } from './auth/address.js';
import { type Authenticator, createAuthenticator } from './auth/authenticate.js';
import { type ClientAddress, clientAddress, isForwarded, trustOf } from './auth/client-address.js';
import { type DisconnectTarget, matcherOf, Presence } from './auth/presence.js';
import { Tickets } from './auth/tickets.js';
import type { ParsedConfig } from './config/parse.js';
import { Connections } from './delivery/connections.js';
import { Ticker } from './delivery/ticker.js';
import { withTracedAppends } from './diagnostics/append.js';
import { Documents } from './documents/documents.js';
import { Files } from './files/files.js';
import { newHolder } from './ids.js';
import { Lifecycle } from './lifecycle/lifecycle.js';
import { Refusals } from './lifecycle/refusals.js';
import { AddressGate } from './limits/address-gate.js';
import { Quotas } from './limits/quotas.js';
import { RequestGate } from './limits/request-gate.js';
import { RateLimiter } from './limits/token-bucket.js';
import { flattenMethods } from './methods/flatten.js';
import { OpenCalls } from './operations/open-calls.js';
import type { Operations } from './operations/operations.js';
import { TracedOperations } from './operations/traced-operations.js';
import { PluginHost } from './plugins/plugin-host.js';
import { checkLogged } from './schema/check-logged.js';
import { SessionDirectory } from './sessions/directory.js';
import type { SessionEnvironment, SessionNotice } from './sessions/environment.js';
import type { SessionRef } from './stores/store.js';
import { allowedOrigins } from './transports/allowed-origins.js';
import type { FrameEnvironment } from './transports/frames/frame-environment.js';
import { SocketClients } from './transports/frames/socket-clients.js';
import { HttpHandler } from './transports/http/handler.js';
import { UnreadAnswers } from './transports/http/unread.js';
import { answeredHosts, type OriginPolicy } from './transports/origin.js';
import { WebSocketDoor } from './transports/websocket/websocket-door.js';

/** Frames of a socket that ask for nothing, sustained; bursts may be twice as many. */
const CHATTER_PER_SECOND = 50;

/** What changes while a gateway runs. */
export interface GatewayState {
  /** New work is turned away. */
  draining: boolean;
  /** The store is open. */
  open: boolean;
}

/** The parts of a gateway. */
export interface Assembly {
  readonly config: ParsedConfig;
  readonly state: GatewayState;
  readonly apps: AppRegistry;
  readonly authenticator: Authenticator;
  readonly connections: Connections;
  readonly sessions: SessionDirectory;
  readonly files: Files;
  readonly operations: Operations;
  readonly calls: OpenCalls;
  readonly plugins: PluginHost;
  readonly http: HttpHandler;
  readonly webSocket: WebSocketDoor;
  readonly clients: SocketClients;
  readonly frameEnvironment: FrameEnvironment;
  readonly lifecycle: Lifecycle;
  readonly refusals: Refusals;
  /** Answers that are written and not read. */
  readonly unread: UnreadAnswers;
  /** Counts the connections of each address. */
  readonly connectionGate: AddressGate;
  /** Whether an address is that of a proxy that is trusted, so many hops away. */
  readonly trust: (address: string, hop: number) => boolean;
  /** Ends all that a user has open, and returns how much that was. */
  disconnect(target: DisconnectTarget): number;
  /** The time by which things age. */
  now(): number;
  /** Resolves once the store is open; null when it is. */
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}

/**
 * Makes the parts of a gateway and connects them.
 *
 * @param ready Resolves once the store is open; null when it is.
 * @throws GatewayError `INVALID_REQUEST` naming the field that is wrong
 */
export function assemble(config: ParsedConfig, ready: () => Promise<void> | null): Assembly {
  const { auth, sessionScope, limits, store, id, logger } = config;
  const state: GatewayState = { draining: false, open: false };
  const log = (error: unknown, what: string): void => logger.error({ error, gateway: id }, what);
  const lifecycle = new Lifecycle(log);
  const report = (error: unknown, what: string): void => {
    log(error, what);
    lifecycle.emit('error', { error, message: what });
  };
  for (const warning of config.warnings) logger.warn({ gateway: id }, warning);

  const apps = new AppRegistry(config.apps, config.defaultApp);
  const refusals = new Refusals(logger, lifecycle, id);
  const authenticator = createAuthenticator({
    auth,
    sessionScope,
    exposed: !config.embedded && !isLoopback(config.host),
    onError: (error) => report(error, 'authentication failed'),
    onRefused: (refusal) => refusals.caller(refusal),
  });
  const presence = new Presence({
    revalidateMs: limits.revalidateMs,
    revalidate: (identity) => authenticator.revalidate(identity),
    onWithdrawn: (identity, error) => refusals.withdrawn(identity, error),
    report,
  });
  const quotas = new Quotas(limits);
  const ticker = new Ticker(limits, report);
  const connections = new Connections(
    {
      gatewayId: id,
      ticker,
      presence,
      allowed: (identity) => quotas.connections(identity),
      renew: (connection, identity) => operations.renew(connection, identity),
      report,
    },
    ({ type, connection: { id: connectionId, identity, options } }) => {
      const { transport } = options;
      lifecycle.emit(type, { clientId: connectionId, connectionId, transport, user: identity.user });
    },
  );
  const notify = (notice: SessionNotice): void => announce(lifecycle, notice);
  const now = createAgeClock();
  const files = new Files({
    store: config.files,
    sessions: store,
    limits,
    bytesIn: (scope) => quotas.fileBytes(scope),
    now,
    report,
  });
  const sessions = new SessionDirectory(
    sessionEnvironment(config, { apps, quotas, files, notify, report, now }),
  );
  const tickets = new Tickets();
  const calls = new OpenCalls((identity) => quotas.streams(identity));
  const methods = flattenMethods(config.methods);
  const operations: Operations = new TracedOperations({
    gatewayId: id,
    store,
    apps,
    methods,
    documents: new Documents({
      gatewayId: id,
      auth: auth.type,
      methods,
      extraRoutes: config.extraRoutes,
      unixSocket: config.socketPath !== undefined,
    }),
    payloads: config,
    sessions,
    connections,
    tickets,
    presence,
    quotas,
    files,
    clientMessages: config.clientMessages,
    clientToolsPerSend: config.limits.clientToolsPerSend,
    appAccess: config.appAccess,
    calls,
    methodMs: limits.methodMs,
    sessionAccess: config.sessionAccess,
    state,
    notify,
    report,
  });
  const findAddress = clientAddress(config.trustProxy);
  const addressOf: ClientAddress = (request) => {
    if (config.trustProxy === undefined && isForwarded(request)) refusals.proxied();
    return findAddress(request);
  };
  const host = { operations, connections, heartbeatMs: limits.heartbeatMs, ready };
  const plugins = new PluginHost({ gatewayId: id, apps, lifecycle, host, limits, report });
  const door = {
    operations,
    authenticator,
    connections,
    addressOf,
    gate: new RequestGate(limits.requestsPerAddress, (address) =>
      refusals.crowded(address, 'limits.requestsPerAddress'),
    ),
    anonymous: auth.type === 'none',
    origin: originPolicy(config, { refusals, addressOf, report }),
    cookies: auth.type === 'custom' && auth.cookies !== false,
    limits,
    state,
    ready,
    report,
  };
  const unread = new UnreadAnswers(limits, ticker);
  const { extraRoutes } = config;
  const http = new HttpHandler({
    ...{ ...door, tickets, presence, apps, plugins, calls, ticker, unread, extraRoutes },
  });
  const clients = new SocketClients(limits.handshakes);
  const chatter = new RateLimiter({ perSecond: CHATTER_PER_SECOND });
  const frameEnvironment = { ...door, clients, chatter };
  const webSocket = new WebSocketDoor(frameEnvironment);
  return {
    ...{
      config,
      state,
      apps,
      authenticator,
      connections,
      sessions,
      files,
      operations,
      calls,
      plugins,
      lifecycle,
    },
    ...{ http, webSocket, clients, frameEnvironment, now, ready, report, refusals, unread },
    connectionGate: new AddressGate(limits.connectionsPerAddress, 'limits.connectionsPerAddress'),
    trust: trustOf(config.trustProxy),
    disconnect: (target) => {
      tickets.withdraw(matcherOf(target));
      return presence.disconnect(target);
    },
  };
}

function sessionEnvironment(
  config: ParsedConfig,
  parts: { readonly apps: AppRegistry; readonly quotas: Quotas } & Pick<
    SessionEnvironment,
    'files' | 'notify' | 'report' | 'now'
  >,
): Omit<SessionEnvironment, 'opened' | 'unused'> {
  const { limits, id, onDisconnect } = config;
  const { queueLength, runMs, waitMs, answerSize, stepsSize } = limits;
  const { disconnectGraceMs, pageBytes, retention } = limits;
  const format = ({ app, name }: SessionRef): string => parts.apps.format(app, name);
  return {
    store: withTracedAppends(config.store, { gatewayId: id, format }),
    files: parts.files,
    gatewayId: id,
    holder: newHolder(id),
    retention,
    pageBytes,
    queueLength,
    sessionsIn: (scope) => parts.quotas.sessions(scope),
    runMs,
    waitMs,
    answerSize,
    stepsSize,
    disconnectGraceMs,
    onDisconnect,
    now: parts.now,
    app: (name): Application => parts.apps.get(name),
    format: (app, name) => parts.apps.format(app, name),
    checkPayload(kind, name, payload) {
      const failed = (error: unknown): void => parts.report(error, `payload of ${kind} ${name}`);
      checkLogged(config[kind], name, payload, failed);
    },
    notify: parts.notify,
    report: parts.report,
  };
}

function originPolicy(
  config: ParsedConfig,
  { refusals, ...needs }: Parameters<typeof allowedOrigins>[1] & { readonly refusals: Refusals },
): OriginPolicy {
  const { embedded, allowedHosts, origins, auth } = config;
  return {
    allows: allowedOrigins(origins, needs),
    hosts: answeredHosts(config, allowedHosts),
    open: embedded && auth.type === 'none',
    onRefused: (refusal) => refusals.origin(refusal),
  };
}

function announce(lifecycle: Lifecycle, notice: SessionNotice): void {
  const { type, ...payload } = notice;
  if (notice.type === 'session:created') {
    const { sessionId, app, userId } = notice;
    lifecycle.emit('session:created', {
      sessionId,
      app,
      ...(userId !== undefined && { user: { id: userId } }),
    });
  } else lifecycle.emit(type, payload as never);
}
