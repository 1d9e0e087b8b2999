import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse as parseYaml } from 'yaml';
import { ROOT } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

const RULES = join(ROOT, 'deploy/prometheus/alerts.yaml');
const rules: readonly { readonly alert: string; readonly labels: { readonly severity: string } }[] =
  parseYaml(readFileSync(RULES, 'utf8')).groups.flatMap(
    (group: { readonly rules: unknown[] }) => group.rules,
  );

type Series = Readonly<Record<string, string>>;

const WELL: Series = {
  'up{job="agents",instance="a"}': '1xN',
  'agent_gateway_store_open{job="agents",instance="a"}': '1xN',
  'agent_gateway_unready{instance="a",reason="store-full"}': '0xN',
  'agent_gateway_unready{instance="a",reason="overloaded"}': '0xN',
  'agent_gateway_silent_seconds{instance="a"}': '0xN',
  'agent_gateway_refusals_total{instance="a",code="OVERLOADED"}': '0xN',
  'agent_gateway_refusals_total{instance="a",code="INTERNAL"}': '0xN',
  'agent_gateway_refusals_total{instance="a",code="AUTH_UNAVAILABLE"}': '0xN',
  'agent_gateway_operations_total{instance="a",operation="send",transport="http",code="ok"}': '0+600xN',
  'agent_gateway_store_append_errors_total{instance="a",code="UNAVAILABLE"}': '0xN',
  'agent_gateway_sessions_stray{instance="a"}': '0xN',
  'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="0.1"}': '0+600xN',
  'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="0.25"}': '0+600xN',
  'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="10"}': '0+600xN',
  'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="30"}': '0+600xN',
  'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="+Inf"}': '0+600xN',
  'agent_gateway_runs_ended_total{instance="a",app="x",stop_reason="end"}': '0+60xN',
  'agent_gateway_runs_ended_total{instance="a",app="x",stop_reason="error"}': '0+1xN',
  'agent_gateway_send_to_first_delta_seconds_bucket{instance="a",app="x",le="5"}': '0+60xN',
  'agent_gateway_send_to_first_delta_seconds_bucket{instance="a",app="x",le="60"}': '0+60xN',
  'agent_gateway_send_to_first_delta_seconds_bucket{instance="a",app="x",le="+Inf"}': '0+60xN',
  'agent_gateway_connections_ended_total{instance="a",transport="sse",reason="slow"}': '0xN',
  'agent_gateway_gaps_total{instance="a",reason="truncated"}': '0xN',
  'agent_gateway_runs{instance="a",app="x",state="queued"}': '3xN',
  'agent_gateway_unread_bytes{instance="a"}': '1000xN',
  'agent_gateway_streams_turned_away_total{instance="a",reason="away"}': '0xN',
  'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.02xN',
  'agent_gateway_store_clock_skew_seconds{instance="a"}': '-0.3xN',
  'process_open_fds{instance="a"}': '200xN',
  'process_max_fds{instance="a"}': '1024xN',
  'agent_gateway_runs_held{instance="a",app="x",version="1"}': '0xN',
  'agent_gateway_due_total{instance="a",kind="schedule",outcome="dead"}': '0xN',
};

/** Faults, by the rule that tells of them: the series that are other than well, and when somebody has to know. A sample comes each 15 s. */
const FAULTS: readonly (readonly [alert: string, by: string, what: string, series: Series])[] = [
  ['Down', '1m30s', 'the process is dead', { 'up{job="agents",instance="a"}': '1 1 0xN' }],
  [
    'NotReady',
    '2m',
    'the disk is full, and nobody sends anything',
    { 'agent_gateway_unready{instance="a",reason="store-full"}': '0 0 1xN' },
  ],
  [
    'StandsStill',
    '1m30s',
    'the loop is blocked',
    { 'agent_gateway_silent_seconds{instance="a"}': '0 0 10+15xN' },
  ],
  [
    'RefusesWork',
    '5m',
    'an overload that flaps: a fifth of all work is refused, and every third scrape sees none',
    { 'agent_gateway_refusals_total{instance="a",code="OVERLOADED"}': '0+120xN' },
  ],
  [
    'TurnsStreamsAway',
    '3m',
    'the store is away, and readers come back',
    { 'agent_gateway_streams_turned_away_total{instance="a",reason="away"}': '0 0 0+30xN' },
  ],
  ['Clock', '4m', 'a clock is slow', { 'agent_gateway_store_clock_skew_seconds{instance="a"}': '-3600xN' }],
  ['Descriptors', '3m', 'nearly no descriptor is left', { 'process_open_fds{instance="a"}': '900xN' }],
  [
    'StoreRefuses',
    '8m',
    'appends fail',
    { 'agent_gateway_store_append_errors_total{instance="a",code="UNAVAILABLE"}': '0+1xN' },
  ],
  ['SessionsStray', '4m', 'sessions are lost', { 'agent_gateway_sessions_stray{instance="a"}': '2xN' }],
  [
    'StoreSlow',
    '14m',
    'each append takes 20 s',
    {
      'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="0.1"}': '0xN',
      'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="0.25"}': '0xN',
      'agent_gateway_store_append_duration_seconds_bucket{instance="a",le="10"}': '0xN',
    },
  ],
  [
    'RunsFail',
    '22m',
    'the model is down',
    { 'agent_gateway_runs_ended_total{instance="a",app="x",stop_reason="error"}': '0+60xN' },
  ],
  [
    'FirstWordSlow',
    '26m',
    'people wait',
    { 'agent_gateway_send_to_first_delta_seconds_bucket{instance="a",app="x",le="5"}': '0xN' },
  ],
  [
    'InternalErrors',
    '14m',
    'a method throws',
    { 'agent_gateway_refusals_total{instance="a",code="INTERNAL"}': '0+2xN' },
  ],
  [
    'AuthUnavailable',
    '8m',
    'the issuer is away',
    { 'agent_gateway_refusals_total{instance="a",code="AUTH_UNAVAILABLE"}': '0+1xN' },
  ],
  [
    'ReadersTooSlow',
    '28m',
    'a proxy holds answers back',
    { 'agent_gateway_connections_ended_total{instance="a",transport="sse",reason="slow"}': '0+5xN' },
  ],
  [
    'ReadersFallBehindRetention',
    '5m',
    'readers came too late',
    { 'agent_gateway_gaps_total{instance="a",reason="truncated"}': '0 0 3xN' },
  ],
  [
    'QueuesGrow',
    '12m',
    'queues grow',
    { 'agent_gateway_runs{instance="a",app="x",state="queued"}': '500xN' },
  ],
  ['UnreadBytes', '7m', 'nobody reads', { 'agent_gateway_unread_bytes{instance="a"}': '300000000xN' }],
  ['EventLoopLag', '12m', 'turns are long', { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.4xN' }],
  [
    'RunsHeld',
    '65m',
    'no version goes on with runs',
    { 'agent_gateway_runs_held{instance="a",app="x",version="1"}': '4xN' },
  ],
  [
    'DeadWork',
    '5m',
    'a schedule was given up',
    { 'agent_gateway_due_total{instance="a",kind="schedule",outcome="dead"}': '0 0 1xN' },
  ],
];

const DRAINS_OR_NOT = 'AgentGatewayDrainsForLong';

const inputOf = (series: Series, samples: number) =>
  Object.entries({ ...WELL, ...series }).map(([name, values]) => ({
    series: name,
    values: values.replace('N', String(samples)),
  }));

function promtool(tests: object): void {
  const folder = tempDir();
  const path = join(folder, 'alerts.test.json');
  writeFileSync(path, JSON.stringify(tests));
  try {
    execFileSync('promtool', ['test', 'rules', path], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: string; stdout?: string; stderr?: string };
    if (code === 'ENOENT') throw new Error('promtool is missing: apt-get install prometheus');
    throw new Error(`${stdout}${stderr}`);
  }
}

describe('the alert rules, as Prometheus evaluates them', () => {
  it('fire in each fault of the table, within its time; each rule has a fault', () => {
    const named = FAULTS.map(([alert]) => `AgentGateway${alert}`);
    const known = rules.map(({ alert }) => alert).filter((alert) => alert !== DRAINS_OR_NOT);
    expect([...named].sort()).to.deep.equal([...known].sort());
    promtool({
      rule_files: [RULES],
      evaluation_interval: '15s',
      tests: FAULTS.map(([alert, by, what, series]) => ({
        name: what,
        interval: '15s',
        input_series: inputOf(series, 320),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="AgentGateway${alert}", alertstate="firing"}) > bool 0`,
            eval_time: by,
            exp_samples: [{ labels: '{}', value: 1 }],
          },
        ],
      })),
    });
  });

  it('say nothing in ten healthy days, nor of a drain and a restart', () => {
    promtool({
      rule_files: [RULES],
      evaluation_interval: '10m',
      tests: [
        {
          interval: '1m',
          input_series: inputOf(
            {
              'agent_gateway_unready{instance="a",reason="draining"}': '0x100 1x2 0x14298',
              'agent_gateway_unready{instance="a",reason="starting"}': '0x102 1x1 0x14297',
            },
            14_400,
          ),
          promql_expr_test: [
            {
              expr: 'count(count_over_time(ALERTS{alertstate="firing"}[10d]))',
              eval_time: '10d',
              exp_samples: [],
            },
          ],
        },
      ],
    });
  });
});
