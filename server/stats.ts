import type { Assembly } from './assembly.js';
import type { Store } from './stores/store.js';

/** How many runs there are. */
export interface RunCounts {
  /** Answering now, or waiting for a person. */
  readonly active: number;
  /** Accepted and waiting for their turn. */
  readonly queued: number;
}

/** What a gateway has on its hands now. Plain numbers of this process; counting them takes as long as there are sessions and connections in memory. */
export interface GatewayStats {
  readonly gatewayId: string;
  /** Whether new work is turned away. */
  readonly draining: boolean;
  readonly store: {
    readonly durability: Store['durability'];
    /** Whether it was opened, which the first request does. */
    readonly open: boolean;
  };
  readonly sessions: {
    /** In memory. */
    readonly live: number;
    /** Those of them whose log is written here. */
    readonly held: number;
  };
  readonly runs: RunCounts & {
    /** By the name of the app; apps without any are there with zeros. */
    readonly apps: Readonly<Record<string, RunCounts>>;
    /** Questions and confirmations that wait for a person. */
    readonly questions: number;
  };
  readonly calls: {
    /** Method calls that are not answered yet, streams not counted. */
    readonly methods: number;
    /** Open streams of methods. */
    readonly streams: number;
    /** Tool calls that belong to no run. */
    readonly tools: number;
  };
  readonly connections: {
    /** Open streams of events, also those of one run and of readers in this process. */
    readonly open: number;
    /** Those of them whose reader does not keep up now. */
    readonly blocked: number;
    /** By transport: `sse`, `websocket`, `unix-socket`, `in-process`, `host`. */
    readonly transports: Readonly<Record<string, number>>;
    /** Sessions that they follow, all together. */
    readonly subscriptions: number;
  };
  /** Bytes that were written to connections and as answers, and that nobody has taken yet. */
  readonly unreadBytes: number;
}

type Parts = Pick<Assembly, 'apps' | 'calls' | 'config' | 'connections' | 'sessions' | 'state' | 'unread'>;

/** Counts what a gateway's parts have on their hands. */
export function statsOf({ apps, calls, config, connections, sessions, state, unread }: Parts): GatewayStats {
  const perApp: Record<string, { active: number; queued: number }> = Object.create(null);
  for (const [name] of apps.entries()) perApp[name] = { active: 0, queued: 0 };
  const counts = { live: 0, held: 0, active: 0, queued: 0, questions: 0, tools: 0 };
  for (const { ref, writer, runs, calls: own } of sessions.values()) {
    const active = runs.active ? 1 : 0;
    const queued = runs.queue.length;
    counts.live += 1;
    counts.held += writer ? 1 : 0;
    counts.active += active;
    counts.queued += queued;
    counts.questions += runs.questions.size;
    counts.tools += own.size;
    const app = perApp[ref.app];
    if (!app) continue;
    app.active += active;
    app.queued += queued;
  }
  const { live, held, active, queued, questions, tools } = counts;
  return {
    gatewayId: config.id,
    draining: state.draining,
    store: { durability: config.store.durability, open: state.open },
    sessions: { live, held },
    runs: { active, queued, apps: perApp, questions },
    calls: { methods: calls.size, streams: calls.streams, tools },
    ...connectionStats(connections.values(), unread.bytes),
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
