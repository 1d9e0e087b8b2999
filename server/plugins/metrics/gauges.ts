import type { Registry } from 'prom-client';
import type { GatewayStats } from '../../diagnostics/gateway-stats.js';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/** Metrics that are the highest value of all workers, not the sum. */
const HIGHEST: ReadonlySet<string> = new Set(['loop_delay_seconds', 'refusing', 'draining', 'store_open']);

type GaugeRow = readonly [
  name: string,
  help: string,
  read: (stats: GatewayStats) => number | readonly Sample[],
  labels?: readonly string[],
];

const byKey = (label: string, counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([key, value]) => [{ [label]: key }, value]);

/** Current values of `gateway.stats()`, read when the page is requested. */
const NOW: readonly GaugeRow[] = [
  [
    'connections',
    'Open streams of events and sockets',
    ({ connections }) => byKey('transport', connections.transports),
    ['transport'],
  ],
  [
    'connections_blocked',
    'Open connections whose reader does not keep up now',
    ({ connections }) => connections.blocked,
  ],
  [
    'subscriptions',
    'Sessions that connections follow, all together',
    ({ connections }) => connections.subscriptions,
  ],
  [
    'unread_bytes',
    'Bytes written to connections and as answers that nobody has taken yet',
    ({ unreadBytes }) => unreadBytes,
  ],
  ['sessions_live', 'Sessions in memory', ({ sessions }) => sessions.live],
  ['sessions_held', 'Sessions in memory whose log this gateway writes', ({ sessions }) => sessions.held],
  [
    'sessions_stray',
    'Sessions that a shared store said are held here, and were not, when it was last asked: they were taken up',
    ({ sessions }) => sessions.stray,
  ],
  [
    'runs',
    'Runs that have not ended',
    ({ runs }) =>
      Object.entries(runs.apps).flatMap(([app, { active, queued }]): Sample[] => [
        [{ app, state: 'active' }, active],
        [{ app, state: 'queued' }, queued],
      ]),
    ['app', 'state'],
  ],
  ['questions', 'Questions and confirmations that wait for a person', ({ runs }) => runs.questions],
  [
    'calls',
    'Calls that are not answered yet: of methods, streams of methods, and tools outside of runs',
    ({ calls }) => [
      [{ kind: 'method' }, calls.methods],
      [{ kind: 'stream' }, calls.streams],
      [{ kind: 'tool' }, calls.tools],
    ],
    ['kind'],
  ],
  [
    'loop_delay_seconds',
    'How late the event loop was when it was last looked, ten times a second',
    ({ load }) => load.delayMs / 1000,
  ],
  [
    'refusing',
    '1 while new work is refused because the event loop is late',
    ({ load }) => Number(load.refusing),
  ],
  [
    'gather_milliseconds',
    'How long pieces of answers wait for others now on average, to be sent as one: 0 while the process has room',
    ({ load }) => load.gatherMs,
  ],
  [
    'draining',
    '1 while new work is turned away, because the gateway closes',
    ({ draining }) => Number(draining),
  ],
  ['notices_sending', 'Deliveries of notices on their way', ({ notices }) => notices.sending],
  ['store_open', '1 once the store is open', ({ store }) => Number(store.open)],
];

/** Values that only grow. */
const GROWING: readonly GaugeRow[] = [
  [
    'delivered_events_total',
    'Logged events that connections were sent, once for each of them',
    ({ delivered }) => delivered.events,
  ],
  ['delivered_bytes_total', 'Bytes of events that connections were sent', ({ delivered }) => delivered.bytes],
  [
    'resumes_total',
    'Sessions that clients took up: new (without a cursor), exact (behind it) or with a gap',
    ({ delivered }) => byKey('kind', delivered.resumes),
    ['kind'],
  ],
  [
    'gaps_total',
    'Gaps that were announced to readers',
    ({ delivered }) => byKey('reason', delivered.gaps),
    ['reason'],
  ],
  [
    'due_total',
    'Outcomes of due work: failed (to be tried again), dead (given up), dropped (nobody wanted it any more)',
    ({ due }) => due.outcomes.map(({ kind, outcome, count }) => [{ kind, outcome }, count]),
    ['kind', 'outcome'],
  ],
  [
    'notices_total',
    'Outcomes of notices: told, failed (to be tried again), dead (given up), gone (nobody is there), seen (and so told to nobody)',
    ({ notices }) =>
      notices.outcomes.map(({ kind, target = '', outcome, count }) => [{ kind, target, outcome }, count]),
    ['kind', 'target', 'outcome'],
  ],
];

/** Adds a gateway's statistics to a registry. */
export function addStats(
  { Counter, Gauge }: Pick<typeof import('prom-client'), 'Counter' | 'Gauge'>,
  registry: Registry,
  stats: () => GatewayStats,
): void {
  // All values of one page come from one call of `stats`, since counting is not free.
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
  const samplesOf = (read: GaugeRow[2]): readonly Sample[] => {
    const value = read(now());
    return typeof value === 'number' ? [[{}, value]] : value;
  };
  const shapeOf = ([name, help, , labelNames = []]: GaugeRow) => ({
    ...{ name: `agent_gateway_${name}`, help, labelNames, registers: [registry] },
    aggregator: HIGHEST.has(name) ? ('max' as const) : ('sum' as const),
  });
  for (const row of GROWING)
    new Counter({
      ...shapeOf(row),
      collect() {
        this.reset();
        for (const [given, value] of samplesOf(row[2])) this.inc(given, value);
      },
    });
  for (const row of NOW)
    new Gauge({
      ...shapeOf(row),
      collect() {
        this.reset();
        for (const [given, value] of samplesOf(row[2])) this.set(given, value);
      },
    });
}
