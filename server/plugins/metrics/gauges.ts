import type { Registry } from 'prom-client';
import type { GatewayStats } from '../../diagnostics/gateway-stats.js';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

interface StatsMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Whether it only ever grows. */
  readonly grows?: boolean;
  read(stats: GatewayStats): number | readonly Sample[];
}

const byKey = (label: string, counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([key, value]) => [{ [label]: key }, value]);

/** What `gateway.stats()` tells, as metrics: read when they are asked for. */
const FROM_STATS: readonly StatsMetric[] = [
  {
    name: 'agent_gateway_connections',
    help: 'Open streams of events and sockets',
    labels: ['transport'],
    read: ({ connections }) => byKey('transport', connections.transports),
  },
  {
    name: 'agent_gateway_connections_blocked',
    help: 'Open connections whose reader does not keep up now',
    read: ({ connections }) => connections.blocked,
  },
  {
    name: 'agent_gateway_subscriptions',
    help: 'Sessions that connections follow, all together',
    read: ({ connections }) => connections.subscriptions,
  },
  {
    name: 'agent_gateway_unread_bytes',
    help: 'Bytes written to connections and as answers that nobody has taken yet',
    read: ({ unreadBytes }) => unreadBytes,
  },
  {
    name: 'agent_gateway_sessions_live',
    help: 'Sessions in memory',
    read: ({ sessions }) => sessions.live,
  },
  {
    name: 'agent_gateway_sessions_held',
    help: 'Sessions in memory whose log this gateway writes',
    read: ({ sessions }) => sessions.held,
  },
  {
    name: 'agent_gateway_sessions_stray',
    help: 'Sessions that a shared store said are held here, and were not, when it was last asked: they were taken up',
    read: ({ sessions }) => sessions.stray,
  },
  {
    name: 'agent_gateway_runs',
    help: 'Runs that have not ended',
    labels: ['app', 'state'],
    read: ({ runs }) =>
      Object.entries(runs.apps).flatMap(([app, { active, queued }]): Sample[] => [
        [{ app, state: 'active' }, active],
        [{ app, state: 'queued' }, queued],
      ]),
  },
  {
    name: 'agent_gateway_questions',
    help: 'Questions and confirmations that wait for a person',
    read: ({ runs }) => runs.questions,
  },
  {
    name: 'agent_gateway_calls',
    help: 'Calls that are not answered yet: of methods, streams of methods, and tools outside of runs',
    labels: ['kind'],
    read: ({ calls }) => [
      [{ kind: 'method' }, calls.methods],
      [{ kind: 'stream' }, calls.streams],
      [{ kind: 'tool' }, calls.tools],
    ],
  },
  {
    name: 'agent_gateway_loop_delay_seconds',
    help: 'How late the event loop was when it was last looked, ten times a second',
    read: ({ load }) => load.delayMs / 1000,
  },
  {
    name: 'agent_gateway_refusing',
    help: '1 while new work is refused because the event loop is late',
    read: ({ load }) => Number(load.refusing),
  },
  {
    name: 'agent_gateway_draining',
    help: '1 while new work is turned away, because the gateway closes',
    read: ({ draining }) => Number(draining),
  },
  {
    name: 'agent_gateway_store_open',
    help: '1 once the store is open',
    read: ({ store }) => Number(store.open),
  },
  {
    name: 'agent_gateway_delivered_events_total',
    help: 'Logged events that connections were sent, once for each of them',
    grows: true,
    read: ({ delivered }) => delivered.events,
  },
  {
    name: 'agent_gateway_delivered_bytes_total',
    help: 'Bytes of events that connections were sent',
    grows: true,
    read: ({ delivered }) => delivered.bytes,
  },
  {
    name: 'agent_gateway_resumes_total',
    help: 'Sessions that clients took up: new (without a cursor), exact (behind it) or with a gap',
    labels: ['kind'],
    grows: true,
    read: ({ delivered }) => byKey('kind', delivered.resumes),
  },
  {
    name: 'agent_gateway_gaps_total',
    help: 'Gaps that were announced to readers',
    labels: ['reason'],
    grows: true,
    read: ({ delivered }) => byKey('reason', delivered.gaps),
  },
];

/** Has a registry tell what a gateway has on its hands. */
export function addStats(
  { Counter, Gauge }: Pick<typeof import('prom-client'), 'Counter' | 'Gauge'>,
  registry: Registry,
  stats: () => GatewayStats,
): void {
  // All of one page from the same moment; counting is not free.
  let current: GatewayStats | null = null;
  const now = (): GatewayStats => {
    if (!current) {
      current = stats();
      setImmediate(() => {
        current = null;
      });
    }
    return current;
  };
  for (const { name, help, labels = [], grows = false, read } of FROM_STATS) {
    const samples = (): readonly Sample[] => {
      const value = read(now());
      return typeof value === 'number' ? [[{}, value]] : value;
    };
    const shape = { name, help, labelNames: labels, registers: [registry] };
    if (grows) {
      new Counter({
        ...shape,
        collect() {
          this.reset();
          for (const [given, value] of samples()) this.inc(given, value);
        },
      });
      continue;
    }
    new Gauge({
      ...shape,
      collect() {
        this.reset();
        for (const [given, value] of samples()) this.set(given, value);
      },
    });
  }
}
