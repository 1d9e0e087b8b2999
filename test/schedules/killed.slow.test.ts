import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { sessionSchedules } from '../../client/schedules/index.js';
import { buildProgram } from '../support/built-program.js';
import { connectClient } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { freePort } from '../support/free-port.js';
import { TOKEN } from '../support/gateway.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { type Fired, isFired } from './begin.js';

/** Missed instants fire up to 24 at a time: what a killed gateway had taken is due again after 15 s. */
const EVERY_MS = 1000;
const KILLS = 2;

async function start(place: string, port: number): Promise<ChildProcess> {
  const args = [place, String(port), TOKEN];
  const child = fork(await buildProgram('test/schedules/program.ts'), args, {
    cwd: ROOT,
    execArgv: [],
    silent: true,
  });
  closeLater(child, (it) => it.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Kills gateways, one after another, while a schedule fires each second; `count` of them share the store. */
async function fires(place: string, count: number): Promise<void> {
  const ports: number[] = [];
  const gateways: ChildProcess[] = [];
  for (let i = 0; i < count; i++) {
    ports.push(await freePort());
    gateways.push(await start(place, ports[i]!));
  }
  const last = ports.length - 1;
  const client = connectClient(`http://127.0.0.1:${ports[last]}`);
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
    const killed = kill % count;
    gateways[killed]!.kill('SIGKILL');
    await once(gateways[killed]!, 'exit');
    gateways[killed] = await start(place, ports[killed]!);
  }
  await upTo(Date.now() + EVERY_MS);
  const instants = fired.map(({ instant }) => (instant - setAt) / EVERY_MS);
  expect(instants).to.deep.equal(instants.map((_, i) => i + 1));
  expect(fired.filter(({ skipped, missed }) => skipped || missed)).to.deep.equal([]);
  expect(new Set(fired.map(({ runId }) => runId)).size).to.equal(fired.length);
}

describe('schedules of gateways that are killed', () => {
  it('fire each instant once on SQLite', () => fires(newDatabase(), 1));
});

for (const { name, describe: describeShared, start: startServer } of SHARED_STORES)
  describeShared(`schedules of gateways that are killed, on ${name}`, () => {
    it('fire each instant once', async () => fires(await startServer(), 2));
  });
