import { FEATURE_METRICS } from '../../shared/features.js';
import type { MetricRow, MetricSample } from '../../shared/words.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import { UNREADY_REASONS } from '../diagnostics/ready-state.js';
import { packageVersion } from '../runtime/package-files.js';

/** Metrics that are the highest value of all workers, not the sum. */
export const HIGHEST: ReadonlySet<string> = new Set([
  ...[
    'loop_delay_seconds',
    'gather_seconds',
    'refusing',
    'draining',
    'store_open',
    'store_clock_skew_seconds',
    'unready',
    'build_info',
  ],
]);

/** The doors of the gateway: they begin at 0, so that nobody and nothing look different. */
const DOORS = { sse: 0, websocket: 0 };

export type StatsRow = MetricRow<GatewayStats>;

const byKey = (label: string, counts: Readonly<Record<string, number>>): MetricSample[] =>
  Object.entries(counts).map(([key, value]) => [{ [label]: key }, value]);

/** Current values of `gateway.stats()`, read when the page is requested. */
export const NOW: readonly StatsRow[] = [
  [
    'connections',
    'Open streams of events and sockets',
    ({ connections }) => byKey('transport', { ...DOORS, ...connections.transports }),
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
      Object.entries(runs.apps).flatMap(([app, { active, queued }]): MetricSample[] => [
        [{ app, state: 'active' }, active],
        [{ app, state: 'queued' }, queued],
      ]),
    ['app', 'state'],
  ],
  ['runs_waiting', 'Active runs whose apps wait for their turn at work', ({ runs }) => runs.waiting],
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
    'gather_seconds',
    'How long pieces of answers wait for others now on average, to be sent as one: 0 while the process has room',
    ({ load }) => load.gatherMs / 1000,
  ],
  [
    'unready',
    '1 for the reason why no new work is taken, as of the last look; 0 for all others',
    ({ ready }) => UNREADY_REASONS.map((reason) => [{ reason }, Number(ready.reason === reason)]),
    ['reason'],
  ],
  [
    'build_info',
    'Always 1; the version of the package',
    () => [[{ version: packageVersion() }, 1]],
    ['version'],
  ],
  [
    'draining',
    '1 while new work is turned away, because the gateway closes',
    ({ draining }) => Number(draining),
  ],
  ['store_open', '1 once the store is open', ({ store }) => Number(store.open)],
  [
    'store_clock_skew_seconds',
    "How far the clock of a shared store is ahead of the gateway's",
    ({ store }) => store.skewMs / 1000,
  ],
  ...FEATURE_METRICS.flatMap(({ now = [] }) => now),
];

/** Values that only grow. */
export const GROWING: readonly StatsRow[] = [
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
    'connections_dropped_total',
    'Connections that were cut because there were as many as file descriptors allow',
    ({ delivered }) => delivered.dropped,
  ],
  [
    'streams_turned_away_total',
    'Streams that were told to come back instead of being opened: the gateway drains, or its store is away',
    ({ delivered }) => byKey('reason', delivered.turnedAway),
    ['reason'],
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
  ...FEATURE_METRICS.flatMap(({ growing = [] }) => growing),
];

/** The values of a row now, each with its labels. */
export function samplesOf(read: StatsRow[2], stats: GatewayStats): readonly MetricSample[] {
  const value = read(stats);
  return typeof value === 'number' ? [[{}, value]] : value;
}
