import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { post, TOKEN } from '../support/gateway.js';
import { withoutPackage } from '../support/missing-package.js';
import { ROOT, runProgram } from '../support/program.js';
import { preloadedDisk } from './disk/traced-disk.js';
import { failure } from './failed-opening.js';

// Each begins a program.

const OPENER = join(ROOT, 'test/durable/open-program.ts');

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
    const args = ['--import', 'tsx', '--import', withoutPackage('libsql'), OPENER, path];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
    expect(stdout).to.equal('STORE_FAILED driver\n');
    expect(stderr).to.include('npm install libsql');
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

describe('a disk that fails to sync', () => {
  it('acknowledges nothing any more, not even once it syncs again, and goes on after a restart', async function () {
    this.timeout(120_000);
    const library = preloadedDisk();
    if (!library) return this.skip();
    const path = newDatabase();
    const failing = join(dirname(path), 'failing');
    const env = { LD_PRELOAD: library, DISK_PATH: path, DISK_FAIL: failing };
    const start = async () => {
      const program = runProgram(join(ROOT, 'test/durable/gateway-program.ts'), { args: [path], env });
      return { program, url: (await program.prints(/listening (\S+)\n/))[1] };
    };
    const first = await start();
    const send = (url: string, key: string) =>
      post(`${url}/send`, { sessionId: 'main', message: '3', idempotencyKey: key });
    expect((await send(first.url!, 'k0')).status).to.equal(200);
    writeFileSync(failing, '');
    expect((await send(first.url!, 'k1')).status).to.equal(503);
    rmSync(failing);
    expect((await send(first.url!, 'k1')).status).to.equal(503);
    expect((await fetch(`${first.url}/readyz`)).status).to.equal(503);
    await first.program.kill('SIGKILL');
    const second = await start();
    expect((await send(second.url!, 'k1')).status).to.equal(200);
    await second.program.kill('SIGKILL');
  });
});
