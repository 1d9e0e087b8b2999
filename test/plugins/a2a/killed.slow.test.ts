import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { startMoody, TAKES } from '../../notices/receiver.js';
import { describeKilled, GatewayProcess } from '../../support/gateway-process.js';
import { until } from '../../support/until.js';
import { connectAgent, says } from './fixtures.js';
import { config, STATES, stateOf, toldTo, update } from './push-fixtures.js';

/** Every third asks. */
const TASKS = 9;
const KILLS = 4;

/** What a receiver does with a notice the first time; after that it takes it. */
const MOODS: readonly ((response: ServerResponse) => unknown)[] = [
  TAKES,
  (response) => response.writeHead(500).end(),
  (response) => delay(300).then(() => response.writeHead(204).end()),
  (response) => response.destroy(),
];

/** Kills gateways, one after another, just as tasks end or ask, and as what is told of them is on its way. */
async function tell(place: string, count: number): Promise<void> {
  const { receiver, taken, arrival } = await startMoody(MOODS);
  const gateways: GatewayProcess[] = [];
  while (gateways.length < count)
    gateways.push(await GatewayProcess.start('test/plugins/a2a/program.ts', place));
  const agent = await connectAgent(gateways.at(-1)!.url);
  const asking: string[] = [];
  const ending: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    for (let n = 0; n < TASKS; n++) {
      const asks = n % 3 === 0;
      const { id }: any = await agent.sendMessage(toldTo(asks ? 'ask' : 'hi', config(receiver.url)));
      (asks ? asking : ending).push(id);
    }
    // By turns: as they are accepted, and as the first of them is told.
    if (round % 2 === 1) await arrival();
    await gateways[round % count]!.restart();
  }
  const told = (state: string): Set<string> =>
    new Set(taken.filter((each) => stateOf(each) === state).map((each) => update(each).taskId));
  await until(() => asking.every((id) => told(STATES.asks).has(id)));
  for (const taskId of asking) await agent.sendMessage(says('42', { taskId }));
  await until(() => [...asking, ...ending].every((id) => told(STATES.done).has(id)));
  // One id for what is told of a task in one state, however often it came.
  const ids = new Map<string, Set<string>>();
  for (const each of receiver.all) {
    const what = `${update(each).taskId} ${stateOf(each)}`;
    ids.set(what, (ids.get(what) ?? new Set()).add(each.id));
  }
  expect([...ids.values()].filter(({ size }) => size !== 1)).to.deep.equal([]);
  expect(ids.size, 'states that were told').to.equal(2 * asking.length + ending.length);
}

describeKilled(
  'push notifications of A2A, of gateways that are killed',
  'tell each task that asks and each that ends at least once under one id',
  tell,
);
