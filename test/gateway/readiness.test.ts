import { mkdirSync, rmdirSync } from 'node:fs';
import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { type GatewayPlugin, memoryStore, type Store } from '../../server/index.js';
import { StoreError } from '../../server/stores/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { get, startGateway } from '../support/gateway.js';
import { passing } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { becomes, embedded, readiness } from './readiness-answer.js';

const failureOf = (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => 'done',
    ({ code }) => code,
  );

describe('readiness', () => {
  it('opens the store by itself', async () => {
    const { gateway, url } = await embedded({ store: sqliteStore({ path: newDatabase() }) });
    expect(gateway.stats().store.open).to.equal(false);
    expect(await readiness(url)).to.equal('ready');
    expect(gateway.stats().store.open).to.equal(true);
  });

  it('is 503 with the reason, and without a word of the path, while the store cannot be opened; healthz is 200', async () => {
    const path = newDatabase();
    mkdirSync(path);
    const { url, log } = await embedded({ store: sqliteStore({ path }) });
    const { status, headers, body } = await get(`${url}/readyz`);
    expect(status).to.equal(503);
    expect(headers.get('retry-after')).to.equal('1');
    expect(body.error).to.deep.include({ code: 'OVERLOADED', details: { reason: 'store-closed' } });
    expect(JSON.stringify(body)).to.not.include(path);
    expect(log.lines.map(({ message }) => message)).to.include('opening the store');
    expect((await get(`${url}/healthz`)).status).to.equal(200);
    rmdirSync(path);
    expect(await readiness(url)).to.equal('ready');
  });

  it('waits for a store that takes its time no longer than limits.storeMs', async () => {
    const opened = gate();
    const store = Object.assign(memoryStore(), { open: () => opened.passed });
    const { url } = await embedded({ store, limits: { storeMs: 20 } });
    expect(await readiness(url)).to.equal('503 OVERLOADED store-closed');
    opened.open();
    await becomes(url, 'ready');
  });

  it('is 503 while the store takes no messages, though it can be asked, and 200 once it took one', async () => {
    const inner = memoryStore();
    let isFull = false;
    const take = inner.append.bind(inner);
    const append: Store['append'] = (...given) => {
      if (isFull) throw new StoreError('UNAVAILABLE', 'No room left');
      return take(...given);
    };
    const store = Object.assign(inner, { append });
    const { gateway, url } = await embedded({ store });
    const sessions = ['one', 'two'].map((name) => gateway.session(name, { anonymous: true }));
    for (const session of sessions) await session.send('first').result;
    expect(await readiness(url)).to.equal('ready');
    isFull = true;
    for (const session of sessions)
      expect(await failureOf(session.send('second').accepted)).to.equal('OVERLOADED');
    expect(await readiness(url)).to.equal('503 OVERLOADED store-unwritable');
    isFull = false;
    await sessions[0]!.send('third').result;
    expect(await readiness(url)).to.equal('ready');
  });

  it('does not follow one session, of which the store takes nothing', async () => {
    const inner = memoryStore();
    const take = inner.append.bind(inner);
    const append: Store['append'] = (log, ...given) => {
      if (log.name === 'bad') throw new StoreError('UNAVAILABLE', 'This text cannot be stored');
      return take(log, ...given);
    };
    const { gateway, url } = await embedded({ store: Object.assign(inner, { append }) });
    const bad = gateway.session('bad', { anonymous: true });
    for (let i = 0; i < 3; i++) {
      expect(await failureOf(bad.send('no').accepted)).to.equal('OVERLOADED');
      expect(await readiness(url)).to.equal('ready');
    }
  });

  for (const [what, member, code] of [
    ['writes', 'append', 'UNAVAILABLE'],
    ['names', 'acquire', 'REFUSED'],
  ] as const)
    it(`does not follow sessions whose ${what} the store refuses, however many, while it takes others`, async () => {
      let tries = 0;
      const store = passing(Object.assign(memoryStore(), { check: () => {} }), (name, call, args) => {
        if (name !== member || !(args[0] as { name: string }).name.startsWith('bad')) return call();
        tries += 1;
        throw new StoreError(code, 'Not this one');
      });
      const { gateway, url } = await embedded({ store });
      for (const name of ['bad-1', 'bad-2', 'bad-3']) {
        const refused = await failureOf(gateway.session(name, { anonymous: true }).send('no').accepted);
        expect(refused).to.equal(code === 'REFUSED' ? 'INVALID_PARAMS' : 'OVERLOADED');
        expect(await readiness(url)).to.equal('ready');
      }
      // A session that the store can never keep is not tried again.
      expect(tries).to.equal(3);
    });

  it('is 503 until the store has told once what was left unfinished, and asks again where it could not', async () => {
    const told = gate();
    let asked = 0;
    const store = passing(memoryStore(), (name, call) => {
      if (name !== 'unfinished') return call();
      asked += 1;
      if (asked > 2) return told.passed.then(call);
      throw new StoreError('UNAVAILABLE', 'The disk is late');
    });
    const { gateway, url, log } = await embedded({ store, limits: { storeMs: 50 } });
    await gateway.start();
    expect(await readiness(url)).to.equal('503 OVERLOADED recovering');
    await until(() => asked > 2);
    expect(log.lines.filter(({ message }) => message === 'recovering sessions').length).to.equal(2);
    expect(await readiness(url)).to.equal('503 OVERLOADED recovering');
    told.open();
    await becomes(url, 'ready');
  });

  it('asks the store once for many who ask at a time, and logs once that it cannot be written', async () => {
    let checks = 0;
    const check = (): never => {
      checks += 1;
      throw new Error('no room');
    };
    const { url, log } = await embedded({ store: Object.assign(memoryStore(), { check }) });
    const told = await Promise.all(Array.from({ length: 20 }, () => readiness(url)));
    expect(new Set(told)).to.deep.equal(new Set(['503 OVERLOADED store-unwritable']));
    expect(checks).to.be.below(20);
    const lines = log.lines.filter(({ message }) => message === 'the store cannot be written');
    expect(lines.length).to.equal(1);
  });

  it('is looked after where nobody asks: the log says that the store cannot be written', async () => {
    const clock = FakeTimers.install({
      toFake: ['setInterval', 'clearInterval'],
      shouldClearNativeTimers: true,
    });
    closeLater(clock, (it) => it.uninstall());
    const check = (): never => {
      throw new Error('no room');
    };
    const { gateway, log } = await embedded({ store: Object.assign(memoryStore(), { check }) });
    await gateway.start();
    expect(log.lines).to.deep.equal([]);
    clock.tick(30_000);
    await until(() => log.lines.some(({ message }) => message === 'the store cannot be written'));
  });

  it('is 503 until the plugins have started, and while one could not be', async () => {
    const { gateway, url } = await embedded();
    const held = gate();
    let works = false;
    const plugin: GatewayPlugin = {
      name: 'slow',
      setup: () => {},
      async start() {
        await held.passed;
        if (!works) throw new Error('not yet');
      },
    };
    gateway.use(plugin);
    expect(await readiness(url)).to.equal('503 OVERLOADED plugin');
    const starting = gateway.start().catch((error: Error) => error.message);
    expect(await readiness(url)).to.equal('503 OVERLOADED plugin');
    held.open();
    expect(await starting).to.equal('not yet');
    const { body } = await get(`${url}/readyz`);
    expect(body.error.message).to.equal('The plugin slow could not be started');
    works = true;
    await gateway.start();
    expect(await readiness(url)).to.equal('ready');
  });

  it('says of a store without room that it is full, and the log says so once', async () => {
    const check = (): void => {
      throw new StoreError('UNAVAILABLE', 'The disk is full', { isFull: true });
    };
    const { url, log } = await embedded({ store: Object.assign(memoryStore(), { check }) });
    expect(await readiness(url)).to.equal('503 OVERLOADED store-full');
    expect(log.lines.map(({ message }) => message)).to.deep.equal(['the store cannot be written']);
  });

  it('is 503 while it drains', async () => {
    const held = gate();
    const began = gate();
    const app = {
      async *run() {
        began.open();
        await held.passed;
        yield 'done';
      },
    };
    const { gateway, url } = await startGateway({ app, limits: { drainMs: 10_000 } });
    const run = gateway.session('main', { user: { id: 'alice' } }).send('hi');
    await began.passed;
    const closing = gateway.close();
    expect(await readiness(url)).to.equal('503 SHUTTING_DOWN draining');
    held.open();
    await closing;
    expect((await run.result).stopReason).to.equal('end');
  });

  it('is 503 while the clocks of gateway and store differ by more than a minute, in either direction', async () => {
    const shared = { leaseMs: 1000, skewMs: 0, join: () => null as never, held: () => [] };
    const { gateway, url } = await embedded({ store: Object.assign(memoryStore(), { shared }) });
    expect(gateway.stats().store.skewMs, 'before it is open').to.equal(0);
    for (const [skewMs, said] of [
      [59_000, 'ready'],
      [3_600_000, '503 OVERLOADED clock'],
      [-59_000, 'ready'],
      [-61_000, '503 OVERLOADED clock'],
    ] as const) {
      shared.skewMs = skewMs;
      expect(await readiness(url), String(skewMs)).to.equal(said);
      expect(gateway.stats().store.skewMs).to.equal(skewMs);
    }
  });
});
