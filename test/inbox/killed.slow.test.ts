import { expect } from 'chai';
import { type ClientInbox, clientInbox, type InboxRow } from '../../client/inbox/index.js';
import type { Client } from '../../client/index.js';
import { Receiver } from '../notices/receiver.js';
import { connectClient } from '../support/client.js';
import { TOKEN } from '../support/gateway.js';
import { describeKilled, GatewayProcess } from '../support/gateway-process.js';
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
  const start = () => GatewayProcess.start('test/notices/program.ts', place, TOKEN, receiver.url);
  const gateways = await Promise.all(Array.from({ length: count }, start));
  const clients = gateways.map(({ url }) => connectClient(url));
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
    await gateways[killed]!.restart();
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

describeKilled('inboxes of gateways that are killed', 'count right after', counts);
