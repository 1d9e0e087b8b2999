import type { Application } from '../apps/application.js';
import { AppRegistry } from '../apps/registry.js';
import { createAgeClock } from '../async/age-clock.js';
import { isLoopback } from '../auth/address.js';
import { type Authenticator, createAuthenticator } from '../auth/authenticate.js';
import { type DisconnectTarget, matcherOf, Presence } from '../auth/presence.js';
import { createScope } from '../auth/scope.js';
import { Tickets } from '../auth/tickets.js';
import { errand } from '../cluster/errands.js';
import { Notes } from '../cluster/notes.js';
import type { ParsedConfig } from '../config/parse.js';
import { Connections } from '../delivery/connections.js';
import { Ticker } from '../delivery/ticker.js';
import { withTracedAppends } from '../diagnostics/append.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import { Documents } from '../documents/documents.js';
import { DueWorker } from '../due/due-worker.js';
import { tellingStore } from '../due/telling-store.js';
import { FEATURES, joined } from '../features/features.js';
import { GatewayFiles } from '../files/files.js';
import { Grants } from '../grants/grants.js';
import { withGuests } from '../grants/guests.js';
import { givenId, newHolder } from '../ids.js';
import { InboxChanges } from '../inbox/changes.js';
import { Readiness } from '../lifecycle/readiness.js';
import { LoopDelay } from '../limits/loop-delay.js';
import { Quotas } from '../limits/quotas.js';
import { SharedRates } from '../limits/shared-rates.js';
import { Moderation } from '../log/moderation.js';
import { flattenMethods } from '../methods/flatten.js';
import { Notices } from '../notices/notices.js';
import { Receivers } from '../notices/receivers.js';
import { OpenCalls } from '../operations/open-calls.js';
import type { Operations } from '../operations/operations.js';
import { TracedOperations } from '../operations/traced-operations.js';
import { PluginHost } from '../plugins/plugin-host.js';
import { PresenceBoard } from '../presence/presence-board.js';
import { checkLogged } from '../schema/check-logged.js';
import { SessionDirectory } from '../sessions/directory.js';
import type { SessionEnvironment } from '../sessions/environment.js';
import { Eraser } from '../sessions/eraser.js';
import type { SessionRef } from '../stores/stored.js';
import { setUpDueWork } from './due-work.js';
import { createReports, type Reports } from './reports.js';
import { createTransports, type Transports } from './transports.js';

/** Asks other gateways to end everything that a user has open. */
const DISCONNECT = errand<DisconnectTarget, number>('disconnect');

/** Asks other gateways to end everything that is open by a grant. */
const UNGRANTED = errand<string, void>('ungranted');

/** The state of a running gateway. */
export interface GatewayState {
  /** Whether new work is refused because the gateway drains. */
  draining: boolean;
  /** Whether the shared store could not be reached for a lease. Clients are then better served by other gateways. */
  away: boolean;
  /** Whether the store is open. */
  open: boolean;
}

/** The parts of a gateway. */
export interface Assembly extends Reports, Transports {
  readonly config: ParsedConfig;
  readonly state: GatewayState;
  readonly load: LoopDelay;
  readonly moderation: Moderation;
  readonly apps: AppRegistry;
  readonly authenticator: Authenticator;
  readonly connections: Connections;
  readonly sessions: SessionDirectory;
  readonly files: GatewayFiles;
  readonly eraser: Eraser;
  readonly due: DueWorker;
  /** Null if the gateway sends no notices. */
  readonly notices: Notices | null;
  readonly board: PresenceBoard;
  readonly operations: Operations;
  readonly calls: OpenCalls;
  readonly plugins: PluginHost;
  readonly readiness: Readiness;
  /** Ends everything that a user has open, and returns the number. */
  disconnect(target: DisconnectTarget): number;
  /** The clock for ageing. */
  now(): number;
  /** Resolves once the store is open; null if it is. */
  ready(): Promise<void> | null;
}

/** The functions of the gateway that its parts use. */
interface OwnGateway {
  /** Resolves once the store is open; null if it is. */
  ready(): Promise<void> | null;
  stats(): GatewayStats;
}

/**
 * Makes the parts of a gateway and connects them.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the wrong field
 */
export function assemble(config: ParsedConfig, { ready, stats }: OwnGateway): Assembly {
  const { auth, sessionScope, limits, store, id, logger } = config;
  const state: GatewayState = { draining: false, away: false, open: false };
  const apps = new AppRegistry(config.apps, config.defaultApp);
  const reports = createReports(config, apps);
  const { lifecycle, refusals, report, notify } = reports;
  const grants = new Grants(store);
  const ofHost = createAuthenticator({
    auth,
    sessionScope,
    exposed: !config.embedded && !isLoopback(config.host),
    onError: (error) => report(error, 'authentication failed'),
    onRefused: (refusal) => refusals.caller(refusal),
  });
  const authenticator = config.shareLinks
    ? withGuests(ofHost, {
        ...{ grants, ready, asksHost: auth.type !== 'none' },
        onRefused: (refusal) => refusals.caller(refusal),
      })
    : ofHost;
  const presence = new Presence({
    revalidateMs: limits.revalidateMs,
    revalidate: (person) => authenticator.revalidate(person),
    onWithdrawn: (person, error) => refusals.withdrawn(person, error),
    report,
  });
  const sharesRates = store.shared !== undefined && Number.isFinite(limits.shareRatesMs);
  const load = new LoopDelay(limits.loopDelayMs, {
    refuses: (delayMs) => {
      const what = `new work is refused: the event loop is ${Math.round(delayMs)} ms late (limits.loopDelayMs)`;
      logger.warn({ gateway: id, delayMs }, what);
    },
    admits: () => logger.warn({ gateway: id }, 'new work is taken again'),
  });
  const moderation = new Moderation(limits.gatherMs);
  const used = (rate: number, key: string, units: number): void => rates?.used(rate, key, units);
  const quotas = new Quotas(limits, sharesRates ? used : undefined, load.admit);
  const ticker = new Ticker(limits, report);
  const holder = newHolder(id);
  const connections = new Connections(
    {
      gatewayId: id,
      holder,
      ticker,
      presence,
      allowed: (person) => quotas.connections(person),
      renew: (connection, person) => operations.renew(connection, person),
      report,
    },
    ({ type, connection: { id: connectionId, person, options } }) => {
      const { transport } = options;
      lifecycle.emit(type, { clientId: connectionId, connectionId, transport, user: person.user });
    },
  );
  const now = createAgeClock();
  const files = new GatewayFiles({
    store: config.files,
    sessions: store,
    limits,
    bytesIn: (scope) => quotas.fileBytes(scope),
    now,
    report,
  });
  const reaches = (isReached: boolean): void => {
    state.away = !isReached;
    if (state.away) connections.drain();
  };
  const format = ({ app, name }: SessionRef): string => apps.format(app, name);
  const due = new DueWorker({ store, report, format });
  const inboxChanges = new InboxChanges(report);
  const sessionStore = inboxChanges.telling(
    tellingStore(withTracedAppends(store, { gatewayId: id, format }), (at) => due.expect(at)),
  );
  const receivers = new Receivers({ grants, scopeOf: createScope(sessionScope), format });
  const notices = config.notify
    ? new Notices(config.notify, { causes: joined('causes'), store: sessionStore, receivers, report })
    : null;
  notices?.workIn(due);
  const ungranted = (grantId: string): void => {
    presence.endGrant(grantId);
    sessions.cluster.errands
      .askAll(UNGRANTED, grantId)
      .catch((error: unknown) => report(error, 'ending what is open by a grant at other gateways'));
  };
  const sessions = new SessionDirectory(
    sessionEnvironment(config, {
      isSpare: ({ app, name }): boolean => plugins.isSpare(apps.format(app, name)),
      store: sessionStore,
      notices,
      holder,
      apps,
      quotas,
      moderation,
      files,
      reaches,
      ungranted,
      notify,
      report,
      now,
    }),
  );
  setUpDueWork(due, { config, apps, report, store: sessionStore, authenticator, grants, sessions });
  const alive = (other: string): Promise<boolean> => sessions.cluster.alive(other);
  const eraser = new Eraser({ store, sessions, files, holder, alive, report });
  const { cluster } = sessions;
  const rates = sharesRates ? new SharedRates(cluster.errands, limits.shareRatesMs, report) : null;
  rates?.serve(quotas);
  const notes = new Notes(sessionStore);
  const tickets = new Tickets({ errands: cluster.errands, notes, authenticator, report });
  const disconnect = (target: DisconnectTarget): number => {
    tickets.withdraw(matcherOf(target));
    return presence.disconnect(target);
  };
  cluster.errands.on(DISCONNECT, disconnect);
  cluster.errands.on(UNGRANTED, (grantId) => presence.endGrant(grantId));
  inboxChanges.join(cluster.errands);
  const board = new PresenceBoard({ errands: cluster.errands, heartbeatMs: limits.heartbeatMs, report });
  const calls = new OpenCalls((person) => quotas.streams(person));
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
    inboxChanges,
    quotas,
    files,
    clientMessages: config.clientMessages,
    limits,
    features: FEATURES,
    notices,
    grants,
    sharing: {
      links: config.shareLinks,
      named: auth.type !== 'none',
    },
    board,
    appAccess: config.appAccess,
    calls,
    sessionAccess: config.sessionAccess,
    state,
    notify,
    report,
  });
  const host = { operations, connections, heartbeatMs: limits.heartbeatMs, ready };
  const { extraRoutes } = config;
  const environment = {
    gatewayId: id,
    extraRoutes,
    apps,
    lifecycle,
    host,
    limits,
    errands: cluster.errands,
    notes,
    stats,
    report,
  };
  const plugins = new PluginHost(environment);
  const { written, left } = sessions;
  const readiness = new Readiness({
    ...{ state, load, store, written, left, plugins, storeMs: limits.storeMs, ready, report },
  });
  const transports = createTransports(config, {
    ...{ operations, connections, authenticator, tickets, presence, apps, plugins, readiness, calls, ticker },
    ...{ refusals, state, ready, report },
  });
  return {
    ...{
      config,
      state,
      load,
      moderation,
      apps,
      authenticator,
      connections,
      sessions,
      files,
      eraser,
      due,
      notices,
      board,
      operations,
      calls,
      plugins,
      readiness,
    },
    ...reports,
    ...transports,
    ...{ now, ready },
    disconnect: (target) => {
      cluster.errands
        .askAll(DISCONNECT, target)
        .catch((error: unknown) => report(error, 'disconnecting a user from other gateways'));
      return disconnect(target);
    },
  };
}

function sessionEnvironment(
  config: ParsedConfig,
  parts: { readonly apps: AppRegistry; readonly quotas: Quotas } & Pick<
    SessionEnvironment,
    | 'store'
    | 'moderation'
    | 'notices'
    | 'holder'
    | 'files'
    | 'reaches'
    | 'ungranted'
    | 'isSpare'
    | 'notify'
    | 'report'
    | 'now'
  >,
): Omit<SessionEnvironment, 'opened' | 'unused' | 'cluster' | 'written' | 'makeRoom'> {
  const { apps, quotas, ...given } = parts;
  const { limits, id: gatewayId, onDisconnect } = config;
  return {
    ...{ limits, gatewayId, onDisconnect, workers: joined('work'), exporters: joined('exports') },
    endsWithGrant: FEATURES.flatMap((feature) => feature.endsWithGrant ?? []),
    ...given,
    sessionsIn: (scope) => quotas.sessions(scope),
    app: (name): Application => apps.get(name),
    format: (app, name) => apps.format(app, name),
    checkPayload(kind, name, payload) {
      givenId(name, kind === 'channels' ? 'channel' : 'name');
      checkLogged(config[kind], name, payload, (error) => parts.report(error, `payload of ${kind} ${name}`));
    },
  };
}
