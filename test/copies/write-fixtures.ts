import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CopyLine } from '../../server/copies/lines.js';
import { copyLines } from '../../server/copies/read-store.js';
import { verifyStore } from '../../server/copies/verify-store.js';
import { writeCopy } from '../../server/copies/write-store.js';
import { storeAt } from '../../server/runtime/store-at.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { gatewayOn, use } from './moved.js';

// Writes the stores of this edition into a folder, for later ones to open: node --import tsx test/copies/write-fixtures.ts test/copies/fixtures/NAME

const [, , folder = ''] = process.argv;
const keep = (name: string, bytes: Buffer | string): void =>
  writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));

const dir = mkdtempSync(join(tmpdir(), 'gateway-fixture-'));
const file = join(dir, 'gateway.db');
const gateway = gatewayOn(await storeAt(file));
await gateway.start();
await use(gateway);
await gateway.close();

const sqlite = await storeAt(file);
await sqlite.open();
const lines: CopyLine[] = [];
for await (const line of copyLines(sqlite)) lines.push(line);
writeFileSync(join(folder, 'counts.json'), `${JSON.stringify(await verifyStore(sqlite), null, 2)}\n`);
await sqlite.close();
keep('copy.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
keep('gateway.db', readFileSync(file));

async function* all(): AsyncGenerator<CopyLine> {
  yield* lines;
}

const redis = await RedisServer.start();
const shared = await storeAt(redis.url);
await shared.open();
await writeCopy(shared, all());
await shared.close();
redis.cli('save');
keep('redis.rdb', readFileSync(join(redis.dir, 'dump.rdb')));
await redis.stop();

const postgres = await PostgresServer.start();
const tables = await storeAt(postgres.url);
await tables.open();
await writeCopy(tables, all());
await tables.close();
keep('postgres.sql', execFileSync('pg_dump', ['--no-owner', '--inserts', postgres.url]));
await postgres.remove();
rmSync(dir, { recursive: true });
process.exit(0);
