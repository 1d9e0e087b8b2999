import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { copyLines } from '../../server/copies/read-store.js';
import { verifyStore } from '../../server/copies/verify-store.js';
import { defineApp, type GatewayError, memoryStore, type Store } from '../../server/index.js';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { collect } from '../support/client.js';
import { crashed, newDatabase } from '../support/durable.js';
import { erasuresIn } from '../support/erasures.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { hostileStore } from '../support/hostile-store.js';
import { insist } from '../support/insist.js';
import { openStore } from '../support/open-store.js';
import { overriding } from '../support/overriding.js';
import { filesBelow, filesWith } from '../support/raw-bytes.js';
import { codeOf } from '../support/refused.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES, fatesOf, STORES } from '../support/stores.js';
import { as, byName } from '../support/users.js';

const PLANTED = 'planted-text-of-alice';
const ALICE = { id: 'planted-alice' };
const BOB = { id: 'bob' };
const respondAsync = { prefer: 'respond-async' };

/** Answers with what it is told; `wait` keeps it from ending until it is let go. */
async function setUp(store: Store, limits = {}, more = {}) {
  const held = gate<string>();
  const signals: AbortSignal[] = [];
  const app = defineApp({
    resumable: true,
    async *run(turn) {
      yield `${turn.text} is what I was told`;
      if (!turn.text.startsWith('wait')) return;
      signals.push(turn.signal);
      await turn.step('look', async () => ({ found: PLANTED }));
      yield await held.passed;
    },
  });
  const started = await startGateway({
    app,
    store,
    auth: byName,
    limits: { drainMs: 0, sendsPerSecond: Number.POSITIVE_INFINITY, ...limits },
    ...more,
  });
  const { url } = started;
  const send = (name: string, sessionId: string, message: unknown, body: object = {}, headers = {}) =>
    post(`${url}/send`, { sessionId, message, ...body }, { ...as(name), ...headers });
  const upload = async (name: string, text: string): Promise<string> => {
    const response = await fetch(`${url}/files?name=${text.slice(0, 30)}.txt`, {
      method: 'POST',
      headers: { ...as(name), 'content-type': 'application/octet-stream' },
      body: text,
    });
    return ((await response.json()) as { fileId: string }).fileId;
  };
  const file = (name: string, fileId: string) =>
    fetch(`${url}/files/${fileId}`, { headers: as(name) }).then(async (response) => {
      await response.arrayBuffer();
      return response.status;
    });
  const follow = (name: string, sessionId: string, query = 'from=earliest') =>
    openStream(`${url}/events?sessionId=${sessionId}&${query}`, { headers: as(name) });
  return { ...started, app, held, signals, send, upload, file, follow };
}

const naming = (fileId: string) => [
  { type: 'text', text: `see ${PLANTED}` },
  { type: 'file', mediaType: 'text/plain', fileId },
];

/** Parts of what the database has compressed: nobody finds a text in those. */
async function packedParts(path: string): Promise<Uint8Array[]> {
  const db = (await loadDriver())(crashed(path));
  const rows = db.prepare("SELECT data FROM chunk WHERE typeof(data) = 'blob'").all();
  db.close();
  return rows.map(({ data }) => {
    const bytes = Buffer.from(data as Uint8Array);
    return bytes.subarray(bytes.length >> 1, (bytes.length >> 1) + 24);
  });
}

/** Text that stays long when it is compressed: what is shorter than a page of the file is not packed. */
const long = (): string => `${PLANTED} ${randomBytes(6000).toString('base64')}`;

/** Everything there can be of a user, with the text in all of it. */
async function fill({ gateway, send, upload, follow }: Awaited<ReturnType<typeof setUp>>, store: Store) {
  const { id } = ALICE;
  await send(id, 'closed', long());
  await gateway.session('closed', { user: ALICE }).close();
  await send(id, 'closed', long(), { idempotencyKey: `key-${PLANTED}` });
  await gateway.session('closed', { user: ALICE }).close();
  for (let i = 0; i < 30; i++) await send(id, 'cut', i < 3 ? long() : `${PLANTED} ${i}`);
  await gateway.session(PLANTED, { user: ALICE }).import([{ role: 'user', content: PLANTED }], {
    title: PLANTED,
    metadata: { note: PLANTED },
  });
  const named = await upload(id, `${PLANTED} in a file`);
  const unnamed = await upload(id, `${PLANTED} in a file that nobody names`);
  await send(id, 'files', long());
  await send(id, 'files', naming(named));
  const running = await send(id, 'running', `wait ${PLANTED}`, { metadata: { note: PLANTED } }, respondAsync);
  const waiting = await send(id, 'running', PLANTED, {}, respondAsync);
  const reader = await follow(id, 'running');
  await reader.until(({ event }) => event === 'content_delta');
  await store.expire(0);
  await send(BOB.id, 'main', 'what bob said');
  return { named, unnamed, running: running.body.runId, waiting: waiting.body.runId, reader };
}

describe('erasing all that is kept of a user', () => {
  for (const durability of ['normal', 'full'] as const) {
    it(`leaves no byte of it in the files of an SQLite store, durability ${durability}`, async () => {
      const path = newDatabase();
      const folder = dirname(path);
      const store = sqliteStore({ path, durability });
      const started = await setUp(store, { retention: { events: 20 } });
      await fill(started, store);
      const { gateway, url, send } = started;
      const files = filesBelow(folder).length;
      expect(filesWith(folder, PLANTED), 'it was there').to.have.length.greaterThan(2);
      const parts = await packedParts(path);
      expect(parts).to.have.length.greaterThan(2);

      expect(await gateway.erase({ user: ALICE })).to.deep.equal({ sessions: 5, files: 2 });

      for (const planted of [PLANTED, ALICE.id]) expect(filesWith(folder, planted)).to.deep.equal([]);
      const bobs = await packedParts(path);
      const gone = parts.filter((part) => !bobs.some((other) => Buffer.from(other).equals(part)));
      expect(gone).to.have.length.greaterThan(1);
      for (const part of gone) expect(filesWith(folder, part)).to.deep.equal([]);
      expect(filesBelow(folder)).to.have.length.below(files);
      const { body } = await get(`${url}/history?sessionId=main`, as(BOB.id));
      expect(JSON.stringify(body)).to.include('what bob said is what I was told');
      await send(BOB.id, 'main', 'more');
      await gateway.close();
      expect(filesWith(folder, PLANTED)).to.deep.equal([]);

      const again = await setUp(sqliteStore({ path }));
      const history = await get(`${again.url}/history?sessionId=main`, as(BOB.id));
      expect(history.body.messages).to.have.length(4);
      expect((await again.gateway.sessions({ user: ALICE })).sessions).to.deep.equal([]);
    });
  }

  it('leaves no byte of it in copies that are made later, nor in the audit, and they verify', async () => {
    const path = newDatabase();
    const [folder, copied] = [dirname(path), newDatabase()];
    const store = sqliteStore({ path });
    const started = await setUp(store, { auditMs: 86_400_000 });
    const { gateway, url } = started;
    await fill(started, store);
    const given = { sessionId: 'given' };
    await started.send(BOB.id, 'given', 'for others');
    await post(`${url}/share`, { ...given, with: { userId: ALICE.id }, as: 'viewer' }, as(BOB.id));
    // A session of another keeps who was in it.
    await post(`${url}/delete`, given, as(BOB.id));
    await post(`${url}/take-over`, { sessionId: 'files' }, as(ALICE.id));
    for await (const _ of gateway.export('main', { user: BOB, by: ALICE.id }));
    await gateway.budgets.set(
      { name: 'b', per: 'app', period: 'ever', limit: { tokens: 1 }, reached: 'stop' },
      { by: ALICE.id },
    );
    const { messages } = (await get(`${url}/history?sessionId=main`, as(BOB.id))).body;
    await gateway.session('main', { user: BOB }).retract(messages[1].id, { by: 'the office' });
    gateway.disconnect({ userId: ALICE.id });
    for await (const _ of gateway.desk({ action: 'disconnect', user: ALICE.id }));
    const acts = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const row of gateway.desk({ action: 'audit' }))
        found.push((row as { readonly api: { readonly operation: string } }).api.operation);
      return found;
    };
    expect(await acts()).to.have.length(11);
    await gateway.backup(copied);
    for (const planted of [PLANTED, ALICE.id])
      expect(filesWith(dirname(copied), planted), 'it was there').to.have.length.greaterThan(0);

    await gateway.erase({ user: ALICE });
    expect(await acts()).to.deep.equal(['delete', 'retract', 'backup', 'erase']);
    const later = newDatabase();
    await gateway.backup(later);
    await gateway.close();
    for (const planted of [PLANTED, ALICE.id])
      for (const place of [folder, dirname(later)])
        expect(filesWith(place, planted), `${planted} in ${place}`).to.deep.equal([]);
    const closed = await openStore(sqliteStore({ path }));
    const lines = await collect(copyLines(closed));
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    expect(text).to.include('what bob said');
    for (const planted of [PLANTED, ALICE.id]) expect(text).not.to.include(planted);
    const { whole } = lines.at(-1) as { readonly whole: object };
    expect(await verifyStore(closed)).to.deep.equal({ ...whole, faults: [] });
    // The audit has noted the backup since.
    expect((await verifyStore(await openStore(sqliteStore({ path: later })))).faults).to.deep.equal([]);
  });

  for (const [name, make] of Object.entries(ENGINES)) {
    it(`ends what runs, tells who follows, and knows nothing of it any more (${name})`, async () => {
      const store = make();
      const started = await setUp(store);
      const { gateway, url, signals, held, send, file } = started;
      const { named, unnamed, running, waiting, reader } = await fill(started, store);

      expect(await gateway.erase({ user: ALICE })).to.deep.equal({ sessions: 5, files: 2 });

      expect(signals[0]!.aborted).to.equal(true);
      const closed = await reader.until(({ event }) => event === 'session_closed');
      expect(closed.data).to.include({ sessionId: 'running', reason: 'deleted' });
      const ends = reader.events.filter(({ event }) => event === 'message_end');
      expect(ends.map(({ data }) => [data.runId, data.stopReason])).to.have.deep.members([
        [running, 'aborted'],
        [waiting, 'aborted'],
      ]);
      held.open(`${PLANTED}, too late`);
      for (const [sessionId, runId] of Object.entries({ running, waiting }))
        expect((await get(`${url}/run?sessionId=${sessionId}&runId=${runId}`, as(ALICE.id))).status).to.equal(
          404,
        );
      for (const fileId of [named, unnamed]) expect(await file(ALICE.id, fileId)).to.equal(404);
      expect(await store.kept(JSON.stringify([null, ALICE.id]), { limit: 9 })).to.deep.equal([]);
      expect(await erasuresIn(store)).to.deep.equal([]);
      expect(await gateway.erase({ user: ALICE }), 'once more').to.deep.equal({ sessions: 0, files: 0 });

      // Who comes back is told that it is gone, and may begin anew.
      const late = await started.follow(ALICE.id, 'running', `lastEventId=${ends[0]!.id}`);
      const gap = await late.until(({ event }) => event === 'gap');
      expect(gap.data).to.include({ reason: 'epoch', requested: ends[0]!.id });
      const anew = await send(ALICE.id, 'running', 'anew', { idempotencyKey: `key-${PLANTED}` });
      expect(anew.status).to.equal(200);
      await reader.until(({ event, data }) => event === 'message_end' && data.runId === anew.body.runId);
      await late.until(({ event, data }) => event === 'message_end' && data.runId === anew.body.runId);
      const types = reader.events.map(({ event }) => event).filter((type) => type !== 'heartbeat');
      // It also read what is left for those who were behind.
      expect(types.slice(types.indexOf('session_closed'))).to.deep.equal([
        ...['session_closed', 'gap', 'snapshot', 'session_closed', 'gap', 'snapshot'],
        ...['message_accepted', 'message_start', 'content_delta', 'message_end'],
      ]);
      expect((await get(`${url}/history?sessionId=main`, as(BOB.id))).body.messages).to.have.length(2);
    });

    it(`is heard of at another gateway of the store, by who follows an open and a closed session (${name})`, async () => {
      const store = make();
      const here = await setUp(store);
      const there = await setUp(store);
      await here.send(ALICE.id, 'open', PLANTED);
      await here.send(ALICE.id, 'closed', PLANTED);
      const [open, closed] = [await there.follow(ALICE.id, 'open'), await there.follow(ALICE.id, 'closed')];
      for (const stream of [open, closed]) await stream.until(({ event }) => event === 'message_end');
      await here.gateway.session('closed', { user: ALICE }).close();
      await closed.until(({ event }) => event === 'session_closed');
      await here.gateway.erase({ user: ALICE });
      // In one way or another each hears that there is nothing any more.
      for (const stream of [open, closed])
        await stream.until(
          ({ event, data }) =>
            (event === 'session_closed' && data.reason === 'deleted') || event === 'snapshot',
        );
      expect((await get(`${there.url}/history?sessionId=open`, as(ALICE.id))).status).to.equal(404);
    });

    it(`erases sessions of apps that there are no more, and runs that nobody takes up (${name})`, async () => {
      const store = make();
      const there = await setUp(
        store,
        {},
        { apps: { old: (await setUp(make())).app }, app: undefined, defaultApp: 'old' },
      );
      await there.send(ALICE.id, 'old:main', `wait ${PLANTED}`, {}, respondAsync);
      await (await there.follow(ALICE.id, 'old:main')).until(({ event }) => event === 'content_delta');
      const here = await setUp(store);
      expect(await here.gateway.erase({ user: ALICE })).to.deep.equal({ sessions: 1, files: 0 });
      expect(here.signals, 'nothing is begun again').to.deep.equal([]);
      expect(await store.unfinished()).to.deep.equal([]);
      await there.send(ALICE.id, 'old:again', PLANTED);
      expect(await here.gateway.erase('old:again', { user: ALICE })).to.include({ sessions: 1 });
    });

    it(`tells who has not heard of it by the time that nothing is left (${name})`, async () => {
      const inner = make();
      // What others are told of comes when the test says.
      let wake = (): void => {};
      const deaf = overriding(inner, {
        watch(_ref, heard) {
          wake = heard;
          return () => {};
        },
      });
      const here = await setUp(inner);
      const there = await setUp(deaf);
      await here.send(ALICE.id, 'main', PLANTED);
      const stream = await there.follow(ALICE.id, 'main');
      const { id } = await stream.until(({ event }) => event === 'message_end');
      await here.gateway.erase({ user: ALICE });
      wake();
      const gap = await stream.until(({ event }) => event === 'gap');
      expect(gap.data).to.include({ reason: 'epoch', requested: id });
      const snapshot = await stream.until(({ event }) => event === 'snapshot');
      expect(snapshot.data.state).to.deep.include({ messages: [], tip: null });
      await here.send(ALICE.id, 'main', 'anew');
      wake();
      await stream.until(({ event }) => event === 'message_end');
    });

    it(`erases one session, and the files that it alone names (${name})`, async () => {
      const store = make();
      const { gateway, url, send, upload, file } = await setUp(store);
      const [both, own] = [await upload(ALICE.id, 'in both'), await upload(ALICE.id, 'in one')];
      await send(ALICE.id, 'main', naming(both));
      await send(ALICE.id, 'main', naming(own));
      await send(ALICE.id, 'other', naming(both));
      expect(await gateway.erase('main', { user: ALICE })).to.deep.equal({ sessions: 1, files: 1 });
      expect([await file(ALICE.id, both), await file(ALICE.id, own)]).to.deep.equal([200, 404]);
      expect((await get(`${url}/history?sessionId=other`, as(ALICE.id))).body.messages).to.have.length(2);
      expect(await store.kept(JSON.stringify([null, ALICE.id]), { limit: 9 })).to.have.length(1);
      const scope = JSON.stringify([null, ALICE.id]);
      expect(await gateway.erase('other', { scope, vacuum: false })).to.deep.equal({ sessions: 1, files: 1 });
      await gateway.vacuum();
    });
  }

  it('goes on at the next opening where it was interrupted, before anything is taken up again', async () => {
    const path = newDatabase();
    const store = sqliteStore({ path });
    const broken = overriding(store.files!, {
      list() {
        throw new Error('The disk is away');
      },
    });
    const first = await setUp(store, { drainMs: 0 }, { files: broken });
    await fill(first, store);
    const failed = await first.gateway.erase({ user: ALICE }).catch((error: GatewayError) => error.code);
    expect(failed).to.equal('OVERLOADED');
    // What had been accepted by then goes too, and is not run again.
    await first.send(ALICE.id, 'late', `wait ${PLANTED}`, {}, respondAsync);
    await first.gateway.close();
    expect(filesWith(dirname(path), PLANTED)).to.have.length.greaterThan(1);
    const second = await setUp(sqliteStore({ path }));
    for (const planted of [PLANTED, ALICE.id]) expect(filesWith(dirname(path), planted)).to.deep.equal([]);
    expect(second.signals).to.deep.equal([]);
    expect((await get(`${second.url}/history?sessionId=main`, as(BOB.id))).body.messages).to.have.length(2);
  });

  it('leaves its bytes to the next opening of an SQLite store where it is told to, and no longer', async () => {
    const path = newDatabase();
    const first = await setUp(sqliteStore({ path }));
    await first.send(ALICE.id, 'main', `${PLANTED} `.repeat(2000));
    await first.gateway.erase({ user: ALICE }, { vacuum: false });
    await first.gateway.close();
    const store = sqliteStore({ path });
    await setUp(store);
    for (const planted of [PLANTED, ALICE.id]) expect(filesWith(dirname(path), planted)).to.deep.equal([]);
    expect(await erasuresIn(store)).to.deep.equal([]);
  });

  it('ends, and leaves every sender with an answer, while the user goes on sending', async () => {
    const store = sqliteStore({ path: newDatabase() });
    const { gateway, url } = await setUp(store);
    let isOver = false;
    const outcomes = new Map<string, number>();
    const senders = ['a', 'b', 'c'].map(async (key) => {
      while (!isOver) {
        const outcome = await gateway
          .session(key, { user: ALICE })
          .send(PLANTED)
          .result.then(
            ({ stopReason }) => stopReason,
            ({ code }: GatewayError) => code,
          );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        // Who is refused at once and asks again at once keeps everybody from their turn.
        await new Promise(setImmediate);
      }
    });
    let erased = 0;
    for (let round = 0; round < 5; round++) erased += (await gateway.erase({ user: ALICE })).sessions;
    isOver = true;
    await Promise.all(senders);
    expect(erased).to.be.greaterThan(1);
    expect([...outcomes.keys()]).to.include('end');
    for (const outcome of outcomes.keys()) expect(outcome).to.be.oneOf(['end', 'aborted', 'SESSION_CLOSED']);
    await gateway.erase({ user: ALICE });
    expect(await store.kept(JSON.stringify([null, ALICE.id]), { limit: 9 })).to.deep.equal([]);
    expect((await get(`${url}/sessions`, as(ALICE.id))).body.sessions).to.deep.equal([]);
  });

  for (const kind of STORES) {
    it(`erases all of it on a store that is ${kind.name}, asked until it is done`, async () => {
      const { store, relent } = hostileStore(ENGINES[kind.engine](), fatesOf(kind));
      const { gateway, url } = await setUp(store);
      const all = ['a', 'b', 'c'].map((key) =>
        insist(() => gateway.session(key, { user: ALICE }).send(PLANTED, { idempotencyKey: key }).result),
      );
      await Promise.all(all);
      await insist(
        () => gateway.session('main', { user: BOB }).send('hello', { idempotencyKey: 'b' }).result,
      );
      await insist(() => gateway.erase({ user: ALICE }));
      relent();
      expect(await store.kept(JSON.stringify([null, ALICE.id]), { limit: 9 })).to.deep.equal([]);
      expect(await erasuresIn(store)).to.deep.equal([]);
      expect((await get(`${url}/history?sessionId=main`, as(BOB.id))).body.messages).to.have.length(2);
    });
  }

  it('asks whom it means, and refuses a user who shares sessions with others', async () => {
    const { gateway } = await setUp(memoryStore());
    expect(await codeOf(() => gateway.erase('main'))).to.equal('INVALID_REQUEST');
    expect(await codeOf(() => gateway.erase({} as never))).to.equal('INVALID_REQUEST');
    expect(await codeOf(() => gateway.erase('../x', { user: ALICE }))).to.equal('INVALID_REQUEST');
    const shared = await setUp(memoryStore(), {}, { sessionScope: 'tenant' });
    const user = { id: 'ann', tenantId: 't' };
    await shared.send('t/ann', 'main', PLANTED);
    await shared.send('t/ben', 'main', 'ben was here');
    expect(await codeOf(() => shared.gateway.erase({ user }))).to.equal('INVALID_REQUEST');
    expect((await get(`${shared.url}/history?sessionId=main`, as('t/ben'))).body.messages).to.have.length(4);
    expect(await shared.gateway.erase('main', { user })).to.include({ sessions: 1 });
    await shared.send('t/ben', 'main', 'ben was here');
    expect(await shared.gateway.erase({ scope: '["t"]' })).to.include({ sessions: 1 });
  });
});
