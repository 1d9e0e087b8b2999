import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { expect } from 'chai';
import { defineApp, type Gateway } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { filesBelow } from '../support/raw-bytes.js';
import { refusalOf } from '../support/refused.js';
import { until } from '../support/until.js';

const SESSIONS = ['a', 'b', 'c', 'd'];
const DELTAS = 60;
const limits = { sendsPerSecond: Number.POSITIVE_INFINITY, drainMs: 0 };

const talker = defineApp({
  async *run(turn) {
    for (let i = 0; i < DELTAS; i++) {
      yield `${i} of ${turn.text}; `;
      await new Promise(setImmediate);
    }
  },
});

async function eventsOf(gateway: Gateway<any, any, any>, key: string): Promise<GatewayEvent[]> {
  const events: GatewayEvent[] = [];
  for await (const line of gateway.export(key, { what: 'events' })) events.push(JSON.parse(line));
  return events;
}

const cursorOf = (event: GatewayEvent): string => (event as { cursor?: string }).cursor ?? '';

/** What is moved meanwhile is another one's. */
function isNamedByConversation(use: string): boolean {
  try {
    return 'epoch' in JSON.parse(readFileSync(use, 'utf8'));
  } catch {
    return false;
  }
}

describe('a backup of an SQLite store', () => {
  it('is made while sessions are written, and a gateway goes on from it: all that was there, and no torn run', async () => {
    const path = newDatabase();
    const { gateway } = await startDurable(path, { app: talker, limits });
    let isOver = false;
    const talking = SESSIONS.map(async (key) => {
      for (let n = 0; !isOver; n++) await gateway.session(key).send(`${key}${n}`).result;
    });
    const copies: string[] = [];
    for (let n = 0; n < 4; n++) {
      // Somewhere within an answer of each.
      for (let turn = 0; turn < 40 + 17 * n; turn++) await new Promise(setImmediate);
      const copy = newDatabase();
      await gateway.backup(copy);
      copies.push(copy);
    }
    isOver = true;
    await Promise.all(talking);
    let cutOff = 0;
    for (const copy of copies) {
      const restored = await startDurable(copy, { app: talker, limits });
      for (const key of SESSIONS) {
        const whole = await eventsOf(gateway, key);
        const kept = await eventsOf(restored.gateway, key);
        const ids = new Set(whole.map(cursorOf));
        const known = kept.filter((event) => ids.has(cursorOf(event)));
        expect(kept.slice(0, known.length), 'what was added since comes after it').to.deep.equal(known);
        expect(known).to.deep.equal(whole.slice(0, known.length));
        expect(known).to.have.length.greaterThan(0);
        const runs = kept.filter(({ type }) => type === 'message_accepted').map(({ runId }: any) => runId);
        const ends = kept.filter(({ type }) => type === 'message_end');
        await restored.gateway.session(key).send('after').result;
        const after = await eventsOf(restored.gateway, key);
        const allEnds = after.filter(({ type }) => type === 'message_end').map(({ runId }: any) => runId);
        expect(allEnds.slice(0, runs.length), 'one end each').to.have.members(runs);
        expect(allEnds).to.have.length(runs.length + 1);
        cutOff += ends.filter(({ stopReason }: any) => stopReason === 'lost').length;
      }
      await restored.gateway.close();
    }
    expect(cutOff, 'answers were under way').to.be.greaterThan(0);
  }).timeout(60_000);

  it('has the files, is nobody else to read, and leaves nothing else about', async () => {
    const path = newDatabase();
    const { gateway, url } = await startDurable(path, { app: talker, limits });
    const response = await fetch(`${url}/files?name=a.txt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
      body: 'in the file',
    });
    const { fileId } = (await response.json()) as { fileId: string };
    const block = { type: 'file', mediaType: 'text/plain', fileId };
    await post(`${url}/send`, { sessionId: 'main', message: [{ type: 'text', text: 'see' }, block] });
    // The file, its record and where it is named: by the run at first, by the conversation soon after the answer.
    await until(() => {
      const files = filesBelow(`${path}.files`);
      const uses = files.filter((file) => file.includes(`${sep}uses${sep}`));
      return files.length === 3 && uses.every((use) => isNamedByConversation(use));
    });
    const folder = join(dirname(newDatabase()), 'backups');
    mkdirSync(folder);
    const copy = join(folder, 'gateway.db');
    // What a copy that was cut off has left.
    writeFileSync(`${copy}.part`, 'half of it');
    mkdirSync(`${copy}.files.part`);
    await gateway.backup(copy);
    const all = filesBelow(folder);
    expect(all.filter((file) => file.includes('part'))).to.deep.equal([]);
    expect(all.filter((file) => file.startsWith(`${copy}.files`))).to.have.length(3);
    if (process.platform !== 'win32')
      for (const file of [copy, ...all]) expect(statSync(file).mode & 0o077, file).to.equal(0);
    await gateway.close();
    const restored = await startDurable(copy, { app: talker, limits });
    const file = await fetch(`${restored.url}/files/${fileId}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await file.text()).to.equal('in the file');
  });

  it('is refused where something is, which stays as it is, and where it cannot be written', async () => {
    const path = newDatabase();
    const { gateway } = await startDurable(path, { app: talker, limits });
    await gateway.session('a').send('hello').result;
    const taken = newDatabase();
    writeFileSync(taken, 'precious');
    for (const there of [taken, path])
      expect((await refusalOf(() => gateway.backup(there))).code).to.equal('INVALID_REQUEST');
    expect(readFileSync(taken, 'utf8')).to.equal('precious');
    const nowhere = join(dirname(newDatabase()), 'no', 'such', 'folder', 'gateway.db');
    const error = await refusalOf(() => gateway.backup(nowhere));
    expect([error.code, (error.details as any).reason]).to.deep.equal(['STORE_FAILED', 'unwritable']);
    expect(existsSync(dirname(nowhere))).to.equal(false);
    expect((await gateway.session('a').history()).messages).to.have.length(2);
  });

  it('is made one after another, however many are asked for at once', async () => {
    const { gateway } = await startDurable(newDatabase(), { app: talker, limits });
    await gateway.session('a').send('hello').result;
    const same = newDatabase();
    const made = await Promise.allSettled([same, newDatabase(), same].map((copy) => gateway.backup(copy)));
    expect(made.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected']);
    const store = sqliteStore({ path: same });
    await store.open();
    expect((await store.list('[null,"token"]', { limit: 9 })).records).to.have.length(1);
    await store.close();
  });

  it('is not to be had of a store in memory', async () => {
    const { gateway } = await startGateway({ app: talker });
    expect((await refusalOf(() => gateway.backup(newDatabase()))).code).to.equal('INVALID_REQUEST');
  });
});
