// What budgets add to a message: pairs of sends, one to a gateway without budgets and one with three, by turns, in processor time.
//   npx tsx bench/budgets.ts [pairs]

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Budget, createGateway, defineApp, memoryStore, type Store } from '../server/index.js';
import { sqliteStore } from '../server/stores/sqlite/index.js';

const PAIRS = Number(process.argv[2] ?? 2000);
const WARM = 200;

const budgets: readonly Budget[] = [
  { name: 'month', per: 'person', period: 'month', limit: { cost: 1e6 }, reached: 'stop' },
  { name: 'day', per: 'app', period: 'day', limit: { tokens: 1e12 }, reached: 'warn' },
  { name: 'session', per: 'session', period: 'ever', limit: { cost: 1e6 }, reached: 'ask' },
];
const app = defineApp({
  async *run(turn) {
    await turn.allowed();
    for (let piece = 0; piece < 20; piece += 1) yield 'some words ';
    await turn.usage({ model: 'm', inputTokens: 100, outputTokens: 40, cost: 0.001, currency: 'USD' });
  },
});

const median = (all: number[]): number => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!;

async function compare(name: string, makeStore: () => Store): Promise<void> {
  const make = (given: readonly Budget[]) =>
    createGateway({
      app,
      store: makeStore(),
      budgets: given,
      limits: { sendsPerSecond: 1e6, loopDelayMs: 1e9, sessionsPerUser: 1e6 },
    } as never);
  const gateways = [make([]), make(budgets)];
  const spent: number[][] = [[], []];
  for (let pair = -WARM; pair < PAIRS; pair += 1)
    for (const which of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const session = gateways[which]!.session(`s${pair % 50}`, { user: { id: `u${pair % 10}` } });
      const before = process.cpuUsage();
      await session.send('go').result;
      const { user, system } = process.cpuUsage(before);
      if (pair >= 0) spent[which]!.push(user + system);
    }
  const more = spent[1]!.map((with3, i) => with3 - spent[0]![i]!);
  const [none, extra] = [median([...spent[0]!]), median(more)];
  console.log(
    `${name}: ${none} µs a send, with three budgets ${extra} µs more (${((extra / none) * 100).toFixed(1)}%)`,
  );
  for (const gateway of gateways) await gateway.close();
}

await compare('memory', memoryStore);
await compare('sqlite', () => sqliteStore({ path: join(mkdtempSync(join(tmpdir(), 'budgets-')), 'a.db') }));
