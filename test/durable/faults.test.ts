import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
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
import { ROOT, runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const OPENER = join(ROOT, 'test/durable/open-program.ts');

async function failure(path: string): Promise<{ code: string; reason: unknown; message: string }> {
  const store = sqliteStore({ path });
  try {
    await store.open();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { code: error.code, reason: (error.details as { reason: string }).reason, message: error.message };
  }
  await store.close();
  throw new Error('the store opened');
}

describe('a database that cannot be opened', () => {
  it('says that another process uses it, and opens once that has gone, however it went', async () => {
    const path = newDatabase();
    const other = runProgram(OPENER, { args: [path] });
    await other.prints(/open\n/);
    const { code, reason, message } = await failure(path);
    expect({ code, reason }).to.deep.equal({ code: 'STORE_FAILED', reason: 'locked' });
    expect(message).to.include(path);
    await other.kill('SIGKILL');
    const store = sqliteStore({ path });
    await store.open();
    await store.close();
  });

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

  it('refuses a schema of a later version', async () => {
    const path = newDatabase();
    const store = sqliteStore({ path });
    await store.open();
    await store.close();
    const db = (await loadDriver())(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(await failure(path)).to.include({ code: 'STORE_FAILED', reason: 'newer' });
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

  it('says that its directory cannot be written', async function () {
    // To root every directory is writable, so the attempt is nobody's.
    const root = process.getuid?.() === 0;
    if (process.platform === 'win32') return this.skip();
    const path = newDatabase();
    if (root) chownSync(dirname(path), 65_534, 65_534);
    chmodSync(dirname(path), 0o500);
    const args = ['--import', 'tsx', OPENER, path, ...(root ? ['nobody'] : [])];
    const { stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    chmodSync(dirname(path), 0o700);
    expect(stdout).to.equal('STORE_FAILED unwritable\n');
  });

  it('names the package to install where there is no SQLite', function () {
    if (process.getBuiltinModule?.('node:sqlite' as 'node:fs')) return this.skip();
    const path = newDatabase();
    const hooks = `export async function resolve(name, context, next) {
      if (name === 'libsql') throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
    const args = [
      '--import',
      'tsx',
      '--import',
      `data:text/javascript,${encodeURIComponent(register)}`,
      OPENER,
      path,
    ];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    expect(stdout).to.equal('STORE_FAILED driver\n');
    expect(stderr).to.include('npm install libsql');
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

describe('a disk that is full', () => {
  it('turns sends away with 503, acknowledges nothing, serves what is in memory, and goes on once there is room', async function () {
    if (process.platform !== 'linux') return this.skip();
    const path = newDatabase();
    const gateway = runProgram(join(ROOT, 'test/durable/gateway-program.ts'), { args: [path] });
    const [, url] = await gateway.prints(/listening (\S+)\n/);
    const limit = (size: string): void => {
      const { status, stderr } = spawnSync(
        'prlimit',
        ['--pid', String(gateway.child.pid), `--fsize=${size}:unlimited`],
        { encoding: 'utf8' },
      );
      expect(status, stderr).to.equal(0);
    };
    const send = (key: string) =>
      post(`${url}/send`, { sessionId: 'main', message: '3', idempotencyKey: key });
    expect((await send('k0')).status).to.equal(200);
    limit('1');
    const refused = await send('k1');
    expect(refused.status, JSON.stringify(refused.body)).to.equal(503);
    expect(refused.body.error).to.include({ code: 'OVERLOADED', retryable: true });
    expect(Number(refused.headers.get('retry-after'))).to.be.at.least(1);
    const channel = await post(`${url}/channel`, { sessionId: 'main', channel: 'c', payload: 1 });
    expect(channel.status).to.equal(503);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const history = await fetch(`${url}/history?sessionId=main`, { headers });
    expect(((await history.json()) as { messages: unknown[] }).messages).to.have.length(2);
    limit('unlimited');
    const again = await send('k1');
    expect(again.status).to.equal(200);
    expect(again.body.stopReason).to.equal('end');
    const all = (await (await fetch(`${url}/history?sessionId=main`, { headers })).json()) as {
      messages: unknown[];
    };
    expect(all.messages).to.have.length(4);
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
