import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { CopyLine } from '../../server/copies/lines.js';
import { verifyStore } from '../../server/copies/verify-store.js';
import { writeCopy } from '../../server/copies/write-store.js';
import { storeAt } from '../../server/runtime/store-at.js';
import { openStore } from '../support/open-store.js';
import { describeWithPostgres, PostgresServer } from '../support/postgres-server.js';
import { ROOT } from '../support/program.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';

const FIXTURES = join(ROOT, 'test/copies/fixtures');

for (const edition of readdirSync(FIXTURES)) {
  const read = (name: string): Buffer => gunzipSync(readFileSync(join(FIXTURES, edition, `${name}.gz`)));
  const counts = JSON.parse(readFileSync(join(FIXTURES, edition, 'counts.json'), 'utf8'));
  const expectWhole = async (place: string): Promise<void> => {
    expect(await verifyStore(await openStore(await storeAt(place)))).to.deep.equal(counts);
  };

  describe(`stores of edition ${edition}`, () => {
    it('are opened as SQLite files', async () => {
      const path = join(tempDir(), 'gateway.db');
      writeFileSync(path, read('gateway.db'));
      await expectWhole(path);
    });

    it('are taken in as copies', async () => {
      const store = await openStore(await storeAt('memory'));
      async function* lines(): AsyncGenerator<CopyLine> {
        for (const line of String(read('copy.ndjson')).split('\n')) yield JSON.parse(line);
      }
      await writeCopy(store, lines());
      expect(await verifyStore(store)).to.deep.equal(counts);
    });
  });

  describeWithRedis(`the Redis of edition ${edition}`, () => {
    it('is opened', async () => {
      const server = closeLater(await RedisServer.start(['--appendonly', 'no']), (it) => it.stop());
      await server.end();
      writeFileSync(join(server.dir, 'dump.rdb'), read('redis.rdb'));
      await server.begin();
      await expectWhole(`${server.url}?durability=none`);
    });
  });

  describeWithPostgres(`the PostgreSQL of edition ${edition}`, () => {
    it('is opened', async () => {
      const server = closeLater(await PostgresServer.start(), (it) => it.remove());
      execFileSync('psql', ['-q', '-v', 'ON_ERROR_STOP=1', server.url], {
        input: read('postgres.sql'),
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      await expectWhole(server.url);
    });
  });
}
