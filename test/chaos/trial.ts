import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosCluster } from './chaos-cluster.js';
import { violationsOf } from './checker/judge.js';
import type { Fault } from './faults.js';
import type { Costs, History } from './history.js';
import { Load, type LoadOptions } from './load.js';

/** A directory for what was seen in the last trial: `CHAOS_DUMP`. */
const DUMP = process.env.CHAOS_DUMP;

/** What came of a trial. */
export interface Verdict {
  readonly violations: readonly string[];
  readonly history: History;
}

/** Has clients at work on a cluster while faults come one after the other, and judges all that was seen. */
export async function tryFaults(
  cluster: ChaosCluster,
  faults: readonly Fault[],
  { random, load: options }: { readonly random: () => number; readonly load: LoadOptions },
): Promise<Verdict> {
  const load = Load.start(cluster, random, options);
  await load.begun();
  for (const fault of faults) {
    await delay(300 + random() * 700);
    const holder = cluster.holderOf(load.sessionId);
    const others = cluster.nodes.filter((node) => node !== holder);
    const other = others[Math.floor(random() * others.length)]!;
    await fault.strike({ cluster, holder, other, random });
  }
  await delay(500);
  await cluster.calm();
  const costs: Costs = {
    lostRuns: faults.some((fault) => fault.costs.lostRuns),
    forgotten: faults.some((fault) => fault.costs.forgotten),
  };
  const { history, stuck } = await load.settle(costs);
  const verdict = { violations: [...stuck, ...violationsOf(history)], history };
  if (DUMP !== undefined) dump(join(DUMP, cluster.store.kind, options.prefix ?? ''), cluster, verdict);
  return verdict;
}

/** Writes what was seen, and what the gateways have printed, to be looked at. */
function dump(directory: string, { nodes }: ChaosCluster, { violations, history }: Verdict): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'violations.txt'), violations.join('\n'));
  writeFileSync(join(directory, 'history.json'), JSON.stringify(history));
  for (const { name, outputs, output } of nodes)
    writeFileSync(join(directory, `${name}.log`), [...outputs, output].join('\n=== started again\n'));
}

/** One line on what a trial has seen. */
export function summaryOf({ history: { views, sent, calls, readings, answered, aborted } }: Verdict): string {
  const logs = new Map(views.map(({ sessionId, events }) => [sessionId, events.length]));
  const events = [...logs.values()].reduce((sum, length) => sum + length, 0);
  const shown = readings.reduce((sum, reading) => sum + reading.shown.length, 0);
  const again = calls.filter(({ resumed }) => resumed).length;
  const ends = new Map<string, number>();
  for (const { ends: told } of sent) {
    const end = told[0]?.stopReason ?? 'none';
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  const told = [...ends].map(([end, count]) => `${count} ${end}`).join(', ');
  return `${events} events, ${shown} shown, ${sent.length} sent (${told}), ${again} runs resumed, ${answered.length} answers, ${aborted.length} aborts`;
}
