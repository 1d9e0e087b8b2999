import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from '../../client/index.js';
import { connectClient } from '../support/client.js';
import { TOKEN } from '../support/gateway.js';
import { describeKilled, GatewayProcess } from '../support/gateway-process.js';
import { until } from '../support/until.js';
import { startMoody, TAKES } from './receiver.js';
import { UNSEEN_MS } from './unseen.js';

/** The last one asks, as each third does; the one before it is read. */
const SESSIONS = 10;
const KILLS = 4;

/** What a receiver does with a notice the first time; after that it takes it. */
const MOODS: readonly ((response: ServerResponse) => unknown)[] = [
  TAKES,
  (response) => response.writeHead(500).end(),
  () => {},
  (response) => delay(400).then(() => response.writeHead(204).end()),
  (response) => response.destroy(),
];

/** Says that a session was read up to a place; whether that was in time. */
async function read(
  gateway: GatewayProcess,
  name: string,
  cursor: string,
  endedAt: number,
): Promise<boolean> {
  const [epoch, , seq] = cursor.split('.');
  await gateway.tell({ name, value: JSON.stringify({ epoch, seq: Number(seq), at: Date.now() }) });
  return Date.now() < endedAt + UNSEEN_MS - 200;
}

/** The id of what a session's log has to be told of: its run has ended, or asks and waits on through all kills. */
async function owedBy(client: Client, sessionId: string): Promise<string> {
  for await (const event of client.session(sessionId).events({ from: 'earliest' })) {
    if (event.type === 'input_required') return `input_required~${event.runId}~${event.callId}`;
    if (event.type === 'message_end') return `run_ended~${event.runId}`;
  }
  throw new Error('No end');
}

/** Kills gateways, one after another, just as runs end and as notices are on their way. */
async function tells(place: string, count: number): Promise<void> {
  const { receiver, taken, seen, arrival } = await startMoody(MOODS);
  const gateways: GatewayProcess[] = [];
  while (gateways.length < count)
    gateways.push(await GatewayProcess.start('test/notices/program.ts', place, TOKEN, receiver.url));
  const client = connectClient(gateways.at(-1)!.url);
  const wasRead = new Set<string>();
  const names: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    const ends: Promise<unknown>[] = [];
    for (let i = 0; i < SESSIONS; i++) {
      const name = `s${round}-${i}`;
      names.push(name);
      if (i % 3 === 0) {
        for await (const event of client.send(name, 'ask me')) if (event.type === 'input_required') break;
      } else ends.push(client.send(name, `hello ${i}`).result);
    }
    const results = (await Promise.all(ends)) as { readonly runId: string; readonly cursor: string }[];
    const name = names.at(-2)!;
    const { runId, cursor } = results.at(-1)!;
    const end = (await client.session(name).history()).messages.at(-1)!.endedAt!;
    if (await read(gateways.at(-1)!, name, cursor, end)) wasRead.add(`run_ended~${runId}`);
    // By turns: between the append and the delivery, and between the delivery and its note.
    if (round % 2 === 1) await arrival();
    await gateways[round % count]!.restart();
  }
  const owed = await Promise.all(names.map((each) => owedBy(client, each)));
  const told = (): Set<string> => new Set(taken.map(({ id }) => id));
  await until(() => owed.every((id) => wasRead.has(id) || told().has(id)));
  expect([...seen].filter((id) => !owed.includes(id))).to.deep.equal([]);
  expect([...seen].filter((id) => wasRead.has(id))).to.deep.equal([]);
  expect(wasRead.size).to.be.above(0);
  for (const { id, body } of receiver.all) expect(body.data.id).to.equal(id);
}

describeKilled(
  'notices of gateways that are killed',
  'tell of every end and question at least once under one id',
  tells,
);
