import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { parse as parseYaml } from 'yaml';
import { metricsPlugin } from '../../../server/plugins/metrics/index.js';
import { echo } from '../../support/apps.js';
import { startGateway } from '../../support/gateway.js';
import { ROOT } from '../../support/program.js';
import { METRICS_TOKEN, MetricsPage } from './page.js';

interface Query {
  readonly expr: string;
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
}

/** Metrics that Prometheus itself makes, and the one that the thread of the monitoring port adds. */
const OTHERS = ['up', 'agent_gateway_silent_seconds'];

/** Labels that Prometheus itself puts on what it scrapes. */
const TARGET_LABELS = ['instance', 'job', 'le'];

/** Reads a query as Prometheus does. @throws Error where it is malformed */
function read(expr: string): Query {
  // Grafana puts durations in place of its variables.
  const query = expr.replaceAll('$__rate_interval', '5m');
  const found = { expr, metrics: [] as string[], labels: [] as string[] };
  parser.parse(query).iterate({
    enter({ type, from, to, node }) {
      const text = query.slice(from, to);
      if (type.isError) throw new Error(`${query}\n${' '.repeat(from)}^ is malformed`);
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') found.metrics.push(text);
      if (type.name === 'LabelName') found.labels.push(text);
    },
  });
  expect(found.metrics, expr).to.not.be.empty;
  return found;
}

const file = (path: string): string => readFileSync(join(ROOT, 'deploy', path), 'utf8');

const RUNBOOK = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
const dashboard = JSON.parse(file('grafana/agent-session-gateway.json'));
const panels: any[] = dashboard.panels.filter(({ type }: any) => type !== 'row');
const rules: any[] = parseYaml(file('prometheus/alerts.yaml')).groups.flatMap(({ rules }: any) => rules);

const QUERIES: readonly (readonly [what: string, expr: string])[] = [
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }: any) => [`panel ${title}`, expr])),
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];

/** The metrics of a gateway, with their labels, and the names of all their series. */
async function exported() {
  const registry = new Registry();
  const { gateway, url } = await startGateway({ app: echo });
  gateway.use(metricsPlugin({ token: METRICS_TOKEN, registry, processMetrics: true }));
  const { families } = await MetricsPage.scrape(url);
  const series = new Map<string, readonly string[]>();
  for (const { name, type } of families.values()) {
    const { labelNames = [] } = registry.getSingleMetric(name) as unknown as { labelNames?: string[] };
    const ends = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const end of ends) series.set(`${name}${end}`, labelNames);
  }
  return { families, series };
}

describe('the dashboard and the alert rules in deploy/', () => {
  it('ask for what the plugin exports, by labels that it has', async () => {
    const { series } = await exported();
    for (const [what, expr] of QUERIES) {
      const { metrics, labels } = read(expr);
      for (const name of metrics) expect([...series.keys(), ...OTHERS], what).to.include(name);
      const known = [...TARGET_LABELS, ...metrics.flatMap((name) => series.get(name) ?? [])];
      for (const label of labels) expect(known, `${what}: ${expr}`).to.include(label);
    }
  });

  it('leave out no metric of the gateway', async () => {
    const { families } = await exported();
    const asked = QUERIES.flatMap(([, expr]) => read(expr).metrics).map((name) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    );
    const own = [...families.keys()].filter((name) => name.startsWith('agent_gateway_'));
    expect(own.filter((name) => !asked.includes(name))).to.deep.equal([]);
  });

  it('say in the dashboard where each panel is and what its lines are called', () => {
    const places = new Set(panels.map(({ gridPos: { x, y } }) => `${x},${y}`));
    expect(places.size).to.equal(panels.length);
    for (const { id, title, targets, fieldConfig } of panels) {
      expect(panels.filter((other) => other.id === id)).to.have.length(1);
      expect(fieldConfig.defaults.unit, title).to.be.a('string');
      for (const { legendFormat, expr } of targets) {
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]: string[]) => label);
        const { labels } = read(expr);
        for (const label of named)
          if (label !== 'instance') expect(labels, `${title}: ${expr}`).to.include(label);
      }
    }
  });

  it('say in each rule how bad it is, what it is about, and what to do, with labels that its query keeps', () => {
    for (const { alert, expr, labels, annotations } of rules) {
      expect(alert).to.match(/^AgentGateway\w+$/);
      expect(labels.severity, alert).to.be.oneOf(['warning', 'critical']);
      expect(annotations, alert).to.have.all.keys('summary', 'description', 'runbook_url');
      const section = alert
        .replace('AgentGateway', '')
        .replace(/(?<!^)([A-Z])/g, '-$1')
        .toLowerCase();
      expect(annotations.runbook_url).to.match(new RegExp(`/docs/operations\\.md#${section}$`));
      expect(RUNBOOK, alert).to.include(
        `\n### ${section.charAt(0).toUpperCase()}${section.slice(1).replaceAll('-', ' ')}\n`,
      );
      const { labels: kept } = read(expr);
      for (const [, label] of annotations.summary.matchAll(/\$labels\.(\w+)/g))
        if (kept.length > 0) expect(kept, alert).to.include(label);
    }
  });

  it('are told of on a page that lists every metric with its labels', async () => {
    const { families, series } = await exported();
    const page = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(agent_gateway_\w+)` \| (\w+) \| (.*?) \|/gm)].map(
      ([, name, type, labels = '']) =>
        `${name} ${type} ${[...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).join(',')}`,
    );
    const own = [...families.values()].filter(({ name }) => name.startsWith('agent_gateway_'));
    expect(rows.sort()).to.deep.equal(
      own
        .map(({ name, type }) => {
          const labels = series.get(type === 'histogram' ? `${name}_count` : name)!;
          return `${name} ${type} ${labels.join(',')}`;
        })
        .concat('agent_gateway_silent_seconds gauge ')
        .sort(),
    );
  });
});
