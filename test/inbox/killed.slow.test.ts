import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { type ClientInbox, clientInbox, type InboxRow } from '../../client/inbox/index.js';
import type { Client } from '../../client/index.js';
import { start } from '../notices/gateway-process.js';
import { Receiver } from '../notices/receiver.js';
import { connectClient } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { freePort } from '../support/free-port.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { until } from '../support/until.js';

const SESSIONS = 6;
const KILLS = 2;

const placeIn = (cursor?: string): number => Number(cursor?.split('.')[2] ?? 0);

/** What waits in a session, counted in its log behind the place that its row has. */
async function counted(
  client: Client,
  { sessionId, readTo }: InboxRow,
): Promise<{ readonly unread: number; readonly waiting: number }> {
  const read = readTo === undefined ? 0 : placeIn(readTo);
  const { head } = await client.status(sessionId);
  const asked = new Set<string>();
  let unread = 0;
  for await (const event of client.session(sessionId).events({ from: 'earliest' })) {
    if (event.type === 'message_end' && placeIn(event.cursor) > read) unread += 1;
    if (event.type === 'input_required') asked.add(event.callId);
    if (event.type === 'input_result') asked.delete(event.callId);
    if (event.cursor !== undefined && placeIn(event.cursor) >= head) break;
  }
  return { unread, waiting: asked.size };
}

/** Kills gateways, one after another, in the middle of sends, answers and reads, and counts again. */
async function counts(place: string, count: number): Promise<void> {
  const receiver = await Receiver.start();
  const ports: number[] = [];
  for (let i = 0; i < count; i++) ports.push(await freePort());
  const begin = (port: number): Promise<ChildProcess> => start(place, port, receiver.url);
  const gateways = await Promise.all(ports.map(begin));
  const clients = ports.map((port) => connectClient(`http://127.0.0.1:${port}`));
  const inboxes = clients.map((client) => clientInbox(client));
  /** What was acknowledged: nobody is behind it any more. */
  const readTo = new Map<string, number>();
  for (let round = 0; round < KILLS; round++) {
    const killed = round % count;
    const client = clients[killed]!;
    const under: Promise<unknown>[] = [];
    for (let i = 0; i < SESSIONS; i++) {
      const id = `s${i}`;
      const sent = client.send(id, (i + round) % 3 === 0 ? 'ask me' : `hello ${round}`);
      under.push(sent.accepted.catch(() => {}));
      if (i % 2 === 0)
        under.push(
          sent.accepted
            .then(() => inboxes[killed]!.read(id))
            .then(({ readTo: to }) => readTo.set(id, Math.max(placeIn(to), readTo.get(id) ?? 0)))
            .catch(() => {}),
        );
    }
    // Some of it is done then, and some is not.
    await Promise.race(under);
    gateways[killed]!.kill('SIGKILL');
    await once(gateways[killed]!, 'exit');
    gateways[killed] = await begin(ports[killed]!);
    await Promise.all(under);
    for (const inbox of inboxes) await assertRight(inbox, client, readTo);
  }
}

/** Waits for what runs to end, or to ask, and then counts. */
async function assertRight(
  inbox: ClientInbox,
  client: Client,
  readTo: ReadonlyMap<string, number>,
): Promise<void> {
  let rows: readonly InboxRow[] = [];
  let totals = { unread: 0, waiting: 0 };
  await until(async () => {
    const { sessions, unread, waiting } = await inbox.list();
    const before = rows;
    rows = sessions;
    totals = { unread, waiting };
    const isStill = sessions.every(({ running, waiting: asked }) => !running || asked > 0);
    return isStill && JSON.stringify(before) === JSON.stringify(sessions);
  });
  expect(rows).to.have.length.above(0);
  for (const row of rows) {
    const { sessionId, unread, waiting } = row;
    expect({ sessionId, unread, waiting }).to.deep.equal({
      sessionId,
      ...(await counted(client, row)),
    });
    expect(row.readTo === undefined ? 0 : placeIn(row.readTo)).to.be.at.least(readTo.get(sessionId) ?? 0);
  }
  const sum = (field: 'unread' | 'waiting'): number => rows.reduce((total, row) => total + row[field], 0);
  expect(totals).to.deep.equal({ unread: sum('unread'), waiting: sum('waiting') });
}

describe('inboxes of gateways that are killed', () => {
  it('count right after, on SQLite', () => counts(newDatabase(), 1));
});

for (const { name, describe: describeShared, start: startServer } of SHARED_STORES)
  describeShared(`inboxes of gateways that are killed, on ${name}`, () => {
    it('count right after', async () => counts(await startServer(), 2));
  });
