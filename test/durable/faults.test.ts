import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createGateway, isGatewayError } from '../../server/index.js';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { commitFailure } from '../../server/stores/sqlite/faults.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { echo } from '../support/apps.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { post, TestLogger, TOKEN } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { failure } from './failed-opening.js';

describe('a database that cannot be opened', () => {
  it('says that it is damaged when it is not a database', async () => {
    const path = newDatabase();
    writeFileSync(path, 'not a database, '.repeat(1000));
    expect(await failure(path)).to.include({ code: 'STORE_FAILED', reason: 'corrupt' });
    expect(readFileSync(path, 'utf8'), 'it was left as it is').to.match(/^not a database/);
  });

  it('says that it is damaged when a page of it is', async () => {
    const path = newDatabase();
    const store = sqliteStore({ path });
    await store.open();
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xaa, 100, 4096);
    writeFileSync(path, bytes);
    expect(await failure(path)).to.include({ code: 'STORE_FAILED', reason: 'corrupt' });
  });

  it("leaves another program's database alone", async () => {
    const path = newDatabase();
    writeFileSync(path, '');
    const db = (await loadDriver())(path);
    db.exec('CREATE TABLE theirs (a)');
    db.close();
    expect(await failure(path)).to.include({ code: 'STORE_FAILED', reason: 'foreign' });
  });

  for (const version of [3, 99])
    it(`refuses a schema of another version: ${version}`, async () => {
      const path = newDatabase();
      const store = sqliteStore({ path });
      await store.open();
      await store.close();
      const db = (await loadDriver())(path);
      db.exec(`PRAGMA user_version = ${version}`);
      db.close();
      expect(await failure(path)).to.include({ code: 'STORE_FAILED', reason: 'schema' });
    });

  it('says that a path is no file', async () => {
    const path = newDatabase();
    mkdirSync(path);
    expect(await failure(path)).to.include({ code: 'STORE_FAILED', reason: 'unwritable' });
    const inFile = newDatabase();
    writeFileSync(inFile, '');
    expect(await failure(join(inFile, 'gateway.db'))).to.include({
      code: 'STORE_FAILED',
      reason: 'unwritable',
    });
  });

  it('fails the start of a gateway of its own', async () => {
    const path = newDatabase();
    mkdirSync(path);
    const error = await startDurable(path, { app: echo }).catch((failed: unknown) => failed);
    expect(isGatewayError(error) && error.code).to.equal('STORE_FAILED');
  });

  it('answers requests of an embedded gateway with 503, without a word of the path, until it opens', async () => {
    const path = newDatabase();
    mkdirSync(path);
    const log = new TestLogger();
    const store = sqliteStore({ path });
    const gateway = createGateway({
      app: echo,
      embedded: true,
      store,
      logger: log,
      auth: { type: 'token', token: TOKEN },
    });
    closeLater(gateway, (it) => it.close());
    const url = await listenOnLoopback((request, response) => gateway.handleRequest(request, response));
    const send = () => post(`${url}/send`, { sessionId: 'main', message: 'x' });
    const refused = await send();
    expect(refused.status).to.equal(503);
    expect(refused.body.error.code).to.equal('OVERLOADED');
    expect(JSON.stringify(refused.body)).to.not.include(path);
    rmdirSync(path);
    expect((await send()).status).to.equal(200);
  });
});

describe('the database', () => {
  it('can be read by its owner alone', async () => {
    const path = join(dirname(newDatabase()), 'new', 'gateway.db');
    const store = sqliteStore({ path });
    await store.open();
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o077, file).to.equal(0);
    await store.close();
  });
});

describe('a commit that SQLite does not report as made', () => {
  it('is refused, unless only its sync failed: then nobody knows, and only the same batch may be tried again', () => {
    const SQLITE_IOERR_FSYNC = 1034;
    const SQLITE_IOERR_WRITE = 778;
    const SQLITE_FULL = 13;
    const failures = (code: number) => [
      Object.assign(new Error('node:sqlite'), { errcode: code }),
      Object.assign(new Error('libsql'), { rawCode: code }),
    ];
    const codesOf = (code: number): string[] => failures(code).map((error) => commitFailure(error).code);
    expect(codesOf(SQLITE_IOERR_FSYNC)).to.deep.equal(['UNKNOWN', 'UNKNOWN']);
    expect(codesOf(SQLITE_IOERR_WRITE)).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(codesOf(SQLITE_FULL)).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(commitFailure(new Error('something else')).code).to.equal('UNAVAILABLE');
  });
});
