import { AppRegistry } from '../apps/registry.js';
import { createAgeClock } from '../async/age-clock.js';
import { notesOwnActs } from '../audit/gateway-acts.js';
import { isLoopback } from '../auth/address.js';
import { type Authenticator, createAuthenticator } from '../auth/authenticate.js';
import { Presence } from '../auth/presence.js';
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
import { openFeatures } from '../features/features.js';
import { GatewayFiles } from '../files/files.js';
import { Grants } from '../grants/grants.js';
import { withGuests } from '../grants/guests.js';
import { ENGINE_KINDS } from '../held/kinds.js';
import type { HostEnvironment } from '../host/open-session.js';
import { newHolder } from '../ids.js';
import { Readiness } from '../lifecycle/readiness.js';
import type { RunSlots } from '../limits/run-slots.js';
import { SharedRates } from '../limits/shared-rates.js';
import { Moderation } from '../log/moderation.js';
import { flattenMethods } from '../methods/flatten.js';
import { Monitor } from '../monitor/monitor.js';
import { Access } from '../operations/access.js';
import { type FeatureParts, joined } from '../operations/feature.js';
import { OpenCalls } from '../operations/open-calls.js';
import type { Operations } from '../operations/operations.js';
import { TracedOperations } from '../operations/traced-operations.js';
import { PluginHost } from '../plugins/plugin-host.js';
import { OwnerRoom } from '../records/owner-room.js';
import { SessionDirectory } from '../sessions/directory.js';
import { Eraser } from '../sessions/eraser.js';
import type { SessionRef } from '../stores/stored.js';
import { type CommitWatcher, watchedStore } from '../stores/watched-store.js';
import { type Audits, createAudits } from './audit.js';
import { type Disconnect, disconnecting } from './disconnect.js';
import { setUpDueWork } from './due-work.js';
import { createLoad, type Load } from './load.js';
import { createReports, type Reports } from './reports.js';
import { erasingOf, sessionEnvironment } from './session-environment.js';
import { createShares } from './shares.js';
import { type GatewayState, newState } from './state.js';
import { createTransports, type Transports } from './transports.js';

/** Asks other gateways to end everything that is open by a grant. */
const UNGRANTED = errand<string, void>('ungranted');

/** The parts of a gateway. */
export interface Assembly extends Audits, Load, Reports, Transports {
  readonly config: ParsedConfig;
  readonly state: GatewayState;
  readonly moderation: Moderation;
  readonly slots: RunSlots;
  readonly apps: AppRegistry;
  readonly authenticator: Authenticator;
  readonly connections: Connections;
  readonly sessions: SessionDirectory;
  readonly files: GatewayFiles;
  readonly eraser: Eraser;
  readonly due: DueWorker;
  readonly features: readonly FeatureParts[];
  readonly operations: Operations;
  readonly host: HostEnvironment;
  readonly calls: OpenCalls;
  readonly plugins: PluginHost;
  readonly readiness: Readiness;
  readonly monitor: Monitor;
  /** Id of this gateway among those on its store. */
  readonly holder: string;
  readonly disconnect: Disconnect;
  /** Goes on with another configuration. @throws GatewayError if `auth` does not fit; then nothing has changed */
  goOnWith(config: Pick<ParsedConfig, 'auth' | 'origins' | 'limits'>): void;
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
  /** Answers a question to the operators' desk. */
  desk(body: string): AsyncIterable<string>;
}

/**
 * Makes the parts of a gateway and connects them.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the wrong field
 */
export function assemble(config: ParsedConfig, { ready, stats, desk }: OwnGateway): Assembly {
  const { auth, sessionScope, limits, store, id } = config;
  const state = newState();
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
  const audits = createAudits(config, { ...reports, apps, ready });
  const { audit, trail } = audits;
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
  const loads = createLoad(config);
  const { load, heap } = loads;
  const moderation = new Moderation(limits.gatherMs);
  const used = (rate: number, key: string, units: number): void => rates?.used(rate, key, units);
  const shares = createShares(config, loads, sharesRates ? used : undefined, report);
  const { quotas, slots } = shares;
  const ticker = new Ticker(limits, report);
  const holder = newHolder(id);
  const connections = new Connections(
    {
      gatewayId: id,
      holder,
      ticker,
      presence,
      places: (person) => quotas.connections(person),
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
    if (isReached) state.awayAt = null;
    else {
      state.awayAt ??= performance.now();
      connections.drain('away');
    }
  };
  const format = ({ app, name }: SessionRef): string => apps.format(app, name);
  const due = new DueWorker({ store, report, format });
  const watchers: CommitWatcher[] = [(committed) => due.committed(committed), notesOwnActs(audit)];
  const watched = watchedStore(withTracedAppends(store, { gatewayId: id, format }), watchers);
  const features = openFeatures({
    ...{ config, store: watched, apps, grants, ready, report },
    features: () => features,
    sessions: () => sessions,
    logOf: async (ref) => (await sessions.existing(ref)).log!,
    mayReach: async (ref, ...asked) =>
      (await access.mayUse(ref.app, asked[1])) && access.mayReach(ref, ...asked),
  });
  const kinds = [...ENGINE_KINDS, ...features.flatMap((feature) => feature.kinds ?? [])];
  watchers.push(...features.flatMap(({ committed }) => committed ?? []));
  for (const [kind, does] of Object.entries(joined(features, 'dueKinds'))) due.on(kind, does);
  const ungranted = (grantId: string): void => {
    presence.endGrant(grantId);
    sessions.cluster.errands
      .askAll(UNGRANTED, grantId)
      .catch((error: unknown) => report(error, 'ending what is open by a grant at other gateways'));
  };
  const sessions = new SessionDirectory(
    sessionEnvironment(config, {
      isSpare: ({ app, name }): boolean => plugins.isSpare(apps.format(app, name)),
      store: watched,
      features,
      kinds,
      holder,
      apps,
      ...shares,
      moderation,
      files,
      reaches,
      ungranted,
      notify,
      report,
      now,
    }),
  );
  const access = new Access({ ...config, apps, grants, report, sessions });
  setUpDueWork(due, {
    config,
    access,
    features,
    apps,
    report,
    store: watched,
    authenticator,
    grants,
    sessions,
  });
  const alive = (other: string): Promise<boolean> => sessions.cluster.alive(other);
  const eraser = new Eraser({
    ...{ store, kinds, sessions, files, holder, alive, report },
    erasing: (home) => Promise.all([erasingOf(features)(home), trail.forget(home)]),
  });
  const { cluster } = sessions;
  const rates = sharesRates ? new SharedRates(cluster.errands, limits.shareRatesMs, report) : null;
  rates?.serve(quotas);
  const notes = new Notes(watched);
  const tickets = new Tickets({ errands: cluster.errands, notes, authenticator, report });
  const disconnect = disconnecting({ errands: cluster.errands, audit, tickets, presence, report });
  cluster.errands.on(UNGRANTED, (grantId) => presence.endGrant(grantId));
  for (const { join } of features) join?.(cluster.errands);
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
    quotas,
    files,
    clientMessages: config.clientMessages,
    limits,
    features,
    owners: new OwnerRoom(store),
    grants,
    audit,
    sharing: {
      links: config.shareLinks,
      named: auth.type !== 'none',
    },
    appAccess: config.appAccess,
    oversight: config.oversight,
    calls,
    sessionAccess: config.sessionAccess,
    state,
    notify,
    report,
  });
  const host = { operations, connections, heartbeatMs: limits.heartbeatMs, features, ready };
  const { extraRoutes } = config;
  const monitor: Monitor = new Monitor({
    ...{ gatewayId: id, options: config.monitor, stats, desk, report },
    readiness: () => readiness,
  });
  const environment = {
    gatewayId: id,
    monitor,
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
    ...{ state, load, heap, store, written, left, plugins, storeMs: limits.storeMs, ready, report },
  });
  const transports = createTransports(config, {
    ...{
      operations,
      connections,
      authenticator,
      tickets,
      presence,
      apps,
      plugins,
      readiness,
      calls,
      ticker,
      load,
    },
    ...{ refusals, state, ready, report },
  });
  return {
    ...{ config, state, slots, moderation, apps, authenticator },
    ...{
      connections,
      sessions,
      files,
      eraser,
      due,
      features,
      operations,
      host,
      calls,
      plugins,
      readiness,
      monitor,
      holder,
    },
    ...{ ...reports, ...transports, ...audits, ...loads, now, ready, disconnect },
    goOnWith: (next) => {
      if (next.auth !== config.auth) ofHost.replace(next.auth);
      transports.allowOrigins(next.origins);
      Object.assign(config, { auth: next.auth, origins: next.origins });
      Object.assign(limits, next.limits);
      quotas.renew();
    },
  };
}
