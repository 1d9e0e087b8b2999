import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { Assembly } from './assembly.js';

type StatsParts = Pick<
  Assembly,
  | 'apps'
  | 'calls'
  | 'config'
  | 'connections'
  | 'due'
  | 'load'
  | 'moderation'
  | 'notices'
  | 'sessions'
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
  load,
  moderation,
  notices,
  sessions,
  state,
  unread,
}: StatsParts): GatewayStats {
  const perApp: Record<string, { active: number; queued: number }> = Object.create(null);
  for (const [name] of apps.entries()) perApp[name] = { active: 0, queued: 0 };
  const counts = { live: 0, held: 0, active: 0, queued: 0, questions: 0, tools: 0 };
  for (const { ref, held, calls: own } of sessions.values()) {
    counts.live += 1;
    counts.tools += own.size;
    if (!held) continue;
    const { runs } = held;
    const active = (runs.active ? 1 : 0) + runs.lanes.size;
    const queued = runs.queue.length;
    counts.held += 1;
    counts.active += active;
    counts.queued += queued;
    counts.questions += runs.questions.size;
    const app = perApp[ref.app];
    if (!app) continue;
    app.active += active;
    app.queued += queued;
  }
  const { live, held, active, queued, questions, tools } = counts;
  return {
    gatewayId: config.id,
    draining: state.draining,
    load: { delayMs: load.delayMs, refusing: load.refusing, gatherMs: moderation.waitMs },
    store: {
      durability: config.store.durability,
      open: state.open,
      shared: config.store.shared !== undefined,
    },
    sessions: { live, held, stray: sessions.strays.count },
    runs: { active, queued, apps: perApp, questions },
    due: { outcomes: due.outcomes },
    notices: notices?.stats ?? { sending: 0, outcomes: [] },
    calls: { methods: calls.size, streams: calls.streams, tools },
    delivered: deliveredBy(connections.tally),
    ...connectionStats(connections.values(), unread.bytes),
  };
}

/** A copy, so that numbers already returned do not change. */
function deliveredBy({ events, bytes, resumes, gaps }: GatewayStats['delivered']): GatewayStats['delivered'] {
  return { events, bytes, resumes: { ...resumes }, gaps: { ...gaps } };
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
