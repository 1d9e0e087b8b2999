import { closeSync, copyFileSync, existsSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { APPLICATION_ID, MIGRATIONS } from '../../server/stores/sqlite/schema.js';
import type { LogRef, Store } from '../../server/stores/store.js';
import { initialState } from '../../shared/fold.js';
import {
  chain,
  checkpointAt,
  newTestEpoch,
  refOf,
  resultOf,
  TestWriter,
} from '../../testing/stores/records.js';
import { newDatabase } from '../support/durable.js';
import { ROOT } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const FIXTURES = join(ROOT, 'test/fixtures');
const versions = readdirSync(FIXTURES).flatMap((name) => /^sqlite-v(\d+)\.sqlite$/.exec(name)?.[1] ?? []);

function fixture(version: string): string {
  const path = newDatabase();
  const source = join(FIXTURES, `sqlite-v${version}.sqlite`);
  for (const end of ['', '-wal']) if (existsSync(source + end)) copyFileSync(source + end, path + end);
  return path;
}

async function open(path: string): Promise<Store> {
  const store = closeLater(sqliteStore({ path }), (it) => it.close());
  await store.open();
  return store;
}

/** The first version that kept steps, and those of its fixture. */
const STEPPED = 6;
const STEPS = [
  { runId: 'run_2', number: 1, name: 'look up', outcome: '{"value":{"n":1}}' },
  { runId: 'run_2', number: 2, name: 'charge' },
];

/** The first version that kept what lists say, and what its fixture has of that. */
const LISTED = 7;
const ABOUT = {
  title: 'Übung',
  metadata: { project: 'p1' },
  archived: true,
  preview: 'Hello',
  messageCount: 3,
  pending: 1,
};

/** The last version that numbered messages. */
const NUMBERED = 3;

async function schemaOf(path: string): Promise<unknown> {
  const db = (await loadDriver())(path);
  const rows = db
    .prepare("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .all();
  db.close();
  return rows.map(({ name, sql }) => [name, sql]);
}

describe('databases of earlier versions', () => {
  it('are kept for every version of the schema', () => {
    expect(versions.map(Number).sort()).to.deep.equal(MIGRATIONS.map((_, i) => i + 1));
  });

  for (const version of versions) {
    it(`opens what version ${version} left behind, its journal included`, async () => {
      const store = await open(fixture(version));
      const ref = refOf('main');
      const log = { ...ref, epoch: 'AAAAAAAAAAA' };
      const head = (await store.head(ref))!;
      expect(head).to.include({ epoch: 'AAAAAAAAAAA', first: 11, head: 22, closed: false });
      expect(head.terms).to.have.length(2);
      const events = await store.read(log, 0, 100, 1 << 20);
      expect(events.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 12 }, (_, i) => i + 11));
      expect(events.at(-1)).to.deep.include({ type: 'message_accepted', seq: 22, term: head.terms[1]!.term });
      expect(JSON.parse(events[0]!.body).payload).to.deep.equal({ n: 11, text: 'äöü – 😀' });
      expect(await store.checkpoint(log)).to.deep.equal(checkpointAt(10, 'm1', 2));
      expect(await store.messages(log, { tip: 'm1', limit: 9 })).to.deep.equal(chain(['m0', 'm1']));
      expect((await store.run(ref, { key: 'k1' }))?.result).to.deep.include(resultOf('run_1'));
      expect(await store.run(ref, { key: 'k2' })).to.include({ runId: 'run_2', accepted: 22, hash: 'h2' });
      expect(await store.unfinished()).to.deep.equal([ref]);
      expect(await store.record(ref)).to.include({ userId: 'alice', closed: false });
      expect(await store.record(refOf('closed'))).to.include({ epoch: 'BBBBBBBBBBB', closed: true });
      const listed = Number(version) >= LISTED;
      const { records } = await store.list('alice', { limit: 9 }, { archived: listed });
      expect(records).to.have.length(1);
      expect(records[0]!.updatedAt).to.be.within(1_700_000_000_000, Date.now());
      // Others are told by the fold of their logs.
      if (listed) expect(records[0]).to.deep.include(ABOUT);
      else expect(records[0]).to.not.have.any.keys(Object.keys(ABOUT));
      const writer = await TestWriter.acquire(store, ref, null);
      expect(writer.term).to.be.greaterThan(head.term);
      const left = {
        runId: 'run_2',
        key: 'k2',
        hash: 'h2',
        epoch: log.epoch,
        accepted: 22,
        request: '{"n":2}',
        ...(Number(version) >= STEPPED && { steps: STEPS }),
      };
      expect(writer.acquired.openRuns).to.deep.equal([left]);
      expect(await store.sessionOf(ref.scope, 'run_1')).to.deep.equal(ref);
    });

    it(`brings version ${version} to the present schema`, async () => {
      const path = fixture(version);
      await (await open(path)).close();
      const fresh = newDatabase();
      await (await open(fresh)).close();
      expect(await schemaOf(path)).to.deep.equal(await schemaOf(fresh));
    });
  }

  it('gives messages that were numbered ids and parents, log by log', async () => {
    const path = newDatabase();
    closeSync(openSync(path, 'w', 0o600));
    const db = (await loadDriver())(path);
    for (const step of MIGRATIONS.slice(0, NUMBERED)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${NUMBERED}`);
    const begin = db.prepare(
      'INSERT INTO session (id, scope, app, name, log, open) VALUES (?1, ?2, ?3, ?4, ?1, ?1)',
    );
    const putLog = db.prepare(
      'INSERT INTO log (id, session, epoch, created, updated, first, head) VALUES (?1, ?1, ?2, 1, 1, 9, 8)',
    );
    const logs: LogRef[] = ['many', 'few', 'none'].map((name) => ({ ...refOf(name), epoch: newTestEpoch() }));
    for (const [i, { scope, app, name, epoch }] of logs.entries()) {
      begin.run(i + 1, scope, app, name);
      putLog.run(i + 1, epoch);
    }
    const put = db.prepare('INSERT INTO message VALUES ((SELECT id FROM log WHERE epoch = ?), ?, ?)');
    const mark = db.prepare('INSERT INTO checkpoint VALUES ((SELECT id FROM log WHERE epoch = ?), ?)');
    const text = (n: number) => [{ type: 'text', text: `${n} "quoted" \\ 😀 \ud800 \u0000` }];
    const old = (id: string, n: number) => ({ id, role: 'user', content: text(n), createdAt: n });
    const run = { runId: 'r', app: 'x', message: { id: 'a', role: 'assistant', content: [], createdAt: 1 } };
    const ids = ['b', 'a', 'twice', "it's", 'twice', '😀', 'z', 'twice'];
    // Written in another order than they are numbered in.
    for (const n of [3, 0, 7, 1, 2, 6, 5, 4]) put.run(logs[0]!.epoch, n, JSON.stringify(old(ids[n]!, n)));
    put.run(logs[1]!.epoch, 0, JSON.stringify(old('b', 0)));
    const { tip: _, ...state } = initialState;
    const rest = { ...state, run, cursor: 'c' };
    mark.run(logs[0]!.epoch, JSON.stringify({ seq: 4, state: rest, messageCount: ids.length }));
    mark.run(logs[1]!.epoch, JSON.stringify({ seq: 2, state, messageCount: 1 }));
    mark.run(logs[2]!.epoch, JSON.stringify({ seq: 1, state, messageCount: 0 }));
    db.close();

    const opened = await open(path);
    const named = ['b', 'a', 'twice', "it's", 'twice#4', '😀', 'z', 'twice#7'];
    const expected = named.map((id, n) => ({ ...old(id, n), parentId: named[n - 1] ?? null }));
    expect(await opened.messages(logs[0]!, { tip: 'twice#7', limit: 99 })).to.deep.equal(expected);
    expect(await opened.messages(logs[0]!, { tip: 'twice', limit: 99 })).to.deep.equal(expected.slice(0, 3));
    expect(await opened.messages(logs[1]!, { tip: 'b', limit: 9 })).to.deep.equal([
      { ...old('b', 0), parentId: null },
    ]);
    expect(await opened.checkpoint(logs[0]!)).to.deep.equal({
      seq: 4,
      state: {
        ...rest,
        tip: 'twice#7',
        hasMore: true,
        messageCount: 8,
        run: { ...run, message: { ...run.message, parentId: 'twice#7' } },
      },
    });
    expect(await opened.checkpoint(logs[1]!)).to.deep.equal({
      seq: 2,
      state: { ...state, tip: 'b', hasMore: true, messageCount: 1 },
    });
    expect(await opened.checkpoint(logs[2]!)).to.deep.equal({ seq: 1, state: { ...state, tip: null } });
  });
});
