import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { buildProgram } from '../support/built-program.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { type Gate, gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { runCommand } from '../support/program.js';
import { until } from '../support/until.js';
import { becomes, embedded, readiness } from './readiness-answer.js';

describe('readiness', () => {
  it('is 503 while the database cannot be written, though nobody sends anything, and 200 once there is room', async function () {
    if (process.platform !== 'linux') return this.skip();
    const program = await buildProgram('test/durable/gateway-program.ts');
    const gateway = runCommand(process.execPath, { args: [program, newDatabase()] });
    const [, url = ''] = await gateway.prints(/listening (\S+)\n/);
    const limit = (size: string): void => {
      const args = ['--pid', String(gateway.child.pid), `--fsize=${size}:unlimited`];
      expect(spawnSync('prlimit', args).status).to.equal(0);
    };
    expect(await readiness(url)).to.equal('ready');
    limit('1');
    await becomes(url, '503 OVERLOADED store-unwritable');
    expect((await get(`${url}/healthz`)).status).to.equal(200);
    limit('unlimited');
    await becomes(url, 'ready');
  });

  it('is 503 once the database was removed under the gateway, whose log says so, and a backup has everything', async () => {
    const path = newDatabase();
    const { gateway, url, log } = await startDurable(path, { app: echo });
    const session = gateway.session('main', { user: { id: 'alice' } });
    await session.send('kept').result;
    expect(await readiness(url)).to.equal('ready');
    for (const file of [path, `${path}-wal`]) rmSync(file);
    await becomes(url, '503 OVERLOADED store-unwritable');
    const told = log.lines.filter(({ message }) => message === 'the store cannot be written');
    expect(told.map(({ level }) => level)).to.deep.equal(['error']);
    expect((told[0]!.details as { err: Error }).err.message).to.contain('removed or replaced');
    const copy = newDatabase();
    await gateway.backup(copy);
    const restored = await startDurable(copy, { app: echo });
    const { messages } = await restored.gateway.session('main', { user: { id: 'alice' } }).history();
    expect(messages[0]!.content).to.deep.equal([{ type: 'text', text: 'kept' }]);
  });

  it('is kept: stats tell it without a question, from before the start on, and since when', async () => {
    const inner = memoryStore();
    let isAway = false;
    const check = (): void => {
      if (isAway) throw new Error('no room');
    };
    const { gateway } = await embedded({ store: Object.assign(inner, { check }) });
    const reason = (): string | null => gateway.stats().ready.reason;
    expect(reason()).to.equal('starting');
    await gateway.start();
    await until(() => reason() === null);
    expect(gateway.stats().ready.forMs).to.be.at.least(0);
    isAway = true;
    await until(() => reason() === 'store-unwritable');
    isAway = false;
    await until(() => reason() === null);
  });

  it('is 503 as a lame duck for limits.lameDuckMs, in which all else is served, and drains then', async () => {
    const { gateway, url } = await startGateway({ app: echo, limits: { lameDuckMs: 4000 } });
    expect(await readiness(url)).to.equal('ready');
    const closing = gateway.close();
    expect(await readiness(url)).to.equal('503 SHUTTING_DOWN lame-duck');
    const { status } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(status).to.equal(200);
    expect(gateway.stats().draining).to.equal(false);
    await closing;
    expect(gateway.stats().ready.reason).to.equal('draining');
  });

  it('says from memory that the store is silent, while it is, and that it is well once it has answered', async () => {
    let silence: Gate | null = null;
    let checks = 0;
    const check = async (): Promise<void> => {
      checks += 1;
      await silence?.passed;
    };
    const store = Object.assign(memoryStore(), { check });
    const { url, log } = await embedded({ store, limits: { storeMs: Number.POSITIVE_INFINITY } });
    expect(await readiness(url)).to.equal('ready');
    silence = gate();
    await becomes(url, '503 OVERLOADED store-silent');
    const asked = checks;
    for (let i = 0; i < 5; i++) expect(await readiness(url)).to.equal('503 OVERLOADED store-silent');
    expect(checks, 'one check at a time').to.equal(asked);
    const lines = log.lines.filter(({ message }) => message === 'the store does not answer');
    expect(lines.length).to.equal(1);
    silence.open();
    silence = null;
    await becomes(url, 'ready');
  });

  it('is told that the store is silent by the first who asks, too', async () => {
    const store = Object.assign(memoryStore(), { check: () => new Promise<void>(() => {}) });
    const { url } = await embedded({ store, limits: { storeMs: Number.POSITIVE_INFINITY } });
    expect(await readiness(url)).to.equal('503 OVERLOADED store-silent');
  });
});
