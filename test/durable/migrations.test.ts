import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { MIGRATIONS } from '../../server/stores/sqlite/schema.js';
import type { Store } from '../../server/stores/store.js';
import { checkpointAt, message, refOf, resultOf, TestWriter } from '../contract/records.js';
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
      expect(await store.checkpoint(log)).to.deep.equal(checkpointAt(10, 2));
      expect(await store.messages(log, { limit: 9 })).to.deep.equal([message('m0'), message('m1')]);
      expect((await store.run(ref, { key: 'k1' }))?.result).to.deep.include(resultOf('run_1'));
      expect(await store.run(ref, { key: 'k2' })).to.include({ runId: 'run_2', accepted: 22, hash: 'h2' });
      expect(await store.unfinished()).to.deep.equal([ref]);
      expect(await store.record(ref)).to.include({ userId: 'alice', closed: false });
      expect(await store.record(refOf('closed'))).to.include({ epoch: 'BBBBBBBBBBB', closed: true });
      expect((await store.list('alice', { limit: 9 })).records).to.have.length(1);
      const writer = await TestWriter.acquire(store, ref, null);
      expect(writer.term).to.be.greaterThan(head.term);
      const left = {
        runId: 'run_2',
        key: 'k2',
        hash: 'h2',
        epoch: log.epoch,
        accepted: 22,
        request: '{"n":2}',
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
});
