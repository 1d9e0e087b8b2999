import type { FeatureStats } from '../../shared/features.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import { waitedFor } from '../sessions/drain.js';
import type { Assembly } from './assembly.js';
import { keepsRuns } from './life.js';

type StatsParts = Pick<
  Assembly,
  | 'apps'
  | 'calls'
  | 'config'
  | 'connections'
  | 'due'
  | 'features'
  | 'load'
  | 'moderation'
  | 'readiness'
  | 'sessions'
  | 'slots'
  | 'state'
  | 'unread'
>;

/** Counts the present work of a gateway's parts. */
export function statsOf({
  apps,
  calls,
  config,
  connections,
  due,
  features,
  load,
  moderation,
  readiness,
  sessions,
  slots,
  state,
  unread,
}: StatsParts): GatewayStats {
  const perApp: Record<string, { active: number; queued: number }> = Object.create(null);
  for (const [name] of apps.entries()) perApp[name] = { active: 0, queued: 0 };
  const counts = { active: 0, queued: 0, questions: 0, tools: 0 };
  const { atWork } = sessions;
  for (const { ref, held, callsUnderWay } of atWork) {
    counts.tools += callsUnderWay;
    if (!held) continue;
    const { runs } = held;
    counts.questions += runs.questions.size;
    const active = (runs.active ? 1 : 0) + runs.lanes.size;
    const queued = runs.queue.length;
    counts.active += active;
    counts.queued += queued;
    const app = perApp[ref.app];
    if (!app) continue;
    app.active += active;
    app.queued += queued;
  }
  const { active, queued, questions, tools } = counts;
  return {
    gatewayId: config.id,
    draining: state.draining,
    ready: readiness.state,
    load: { delayMs: load.delayMs, refusing: load.refusing, gatherMs: moderation.waitMs },
    store: {
      durability: config.store.durability,
      open: state.open,
      shared: config.store.shared !== undefined,
      skewMs: state.open ? (config.store.shared?.skewMs ?? 0) : 0,
    },
    sessions: { live: sessions.size, held: atWork.held, stray: sessions.strays.count },
    runs: {
      active,
      queued,
      apps: perApp,
      waiting: slots.waiting,
      questions,
      waitedFor: waitedFor(atWork, keepsRuns(config)),
    },
    due: { outcomes: due.outcomes },
    calls: { methods: calls.size, streams: calls.streams, tools },
    delivered: deliveredBy(connections.tally),
    ...connectionStats(connections.values(), unread.bytes),
    ...(Object.assign({}, ...features.map((feature) => feature.stats?.())) as FeatureStats),
  };
}

/** A copy, so that numbers already returned do not change. */
function deliveredBy({
  events,
  bytes,
  resumes,
  gaps,
  turnedAway,
  dropped,
}: GatewayStats['delivered']): GatewayStats['delivered'] {
  return {
    events,
    bytes,
    resumes: { ...resumes },
    gaps: { ...gaps },
    turnedAway: { ...turnedAway },
    dropped,
  };
}

function connectionStats(
  open: Iterable<{
    readonly options: { readonly transport: string; readonly sink: { unread(): number } };
    readonly writable: boolean;
    readonly subscriptions: number;
  }>,
  unread: number,
): Pick<GatewayStats, 'connections' | 'unreadBytes'> {
  const transports: Record<string, number> = Object.create(null);
  const counts = { open: 0, blocked: 0, subscriptions: 0, unreadBytes: unread };
  for (const { options, writable, subscriptions } of open) {
    counts.open += 1;
    counts.blocked += writable ? 0 : 1;
    counts.subscriptions += subscriptions;
    counts.unreadBytes += options.sink.unread();
    transports[options.transport] = (transports[options.transport] ?? 0) + 1;
  }
  const { unreadBytes, ...connections } = counts;
  return { connections: { ...connections, transports }, unreadBytes };
}
