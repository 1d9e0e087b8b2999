import { expect } from 'chai';
import { sessionSchedules } from '../../client/schedules/index.js';
import { connectClient } from '../support/client.js';
import { TOKEN } from '../support/gateway.js';
import { describeKilled, GatewayProcess } from '../support/gateway-process.js';
import { type Fired, isFired } from './begin.js';

/** Missed instants fire up to 24 at a time: what a killed gateway had taken is due again after 15 s. */
const EVERY_MS = 1000;
const KILLS = 2;

/** Kills gateways, one after another, while a schedule fires each second; `count` of them share the store. */
async function fires(place: string, count: number): Promise<void> {
  const gateways: GatewayProcess[] = [];
  while (gateways.length < count)
    gateways.push(await GatewayProcess.start('test/schedules/program.ts', place, TOKEN));
  const client = connectClient(gateways.at(-1)!.url);
  const { schedule } = sessionSchedules(client, 'main');
  const { setAt } = await schedule({ id: 'tick', message: 'Tick', every: { ms: EVERY_MS }, missed: 'all' });
  const fired: Fired[] = [];
  const events = client.events('main', { from: 'earliest', types: ['schedule_fired', 'gap'] });
  const upTo = async (instant: number): Promise<void> => {
    while ((fired.at(-1)?.instant ?? 0) < instant) {
      const { value } = await events.next();
      if (!isFired(value)) throw new Error('a gap');
      fired.push(value);
    }
  };
  for (let kill = 0; kill < KILLS; kill++) {
    await upTo(Date.now() + EVERY_MS);
    await gateways[kill % count]!.restart();
  }
  await upTo(Date.now() + EVERY_MS);
  const instants = fired.map(({ instant }) => (instant - setAt) / EVERY_MS);
  expect(instants).to.deep.equal(instants.map((_, i) => i + 1));
  expect(fired.filter(({ skipped, missed }) => skipped || missed)).to.deep.equal([]);
  expect(new Set(fired.map(({ runId }) => runId)).size).to.equal(fired.length);
}

describeKilled('schedules of gateways that are killed', 'fire each instant once', fires);
