import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { createGateway, defineApp, type GatewayConfig, gatewayMiddleware } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { textOf } from '../../shared/messages.js';
import { echo } from '../support/apps.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { tempDir } from '../support/temp-dir.js';

const middleware = (config: GatewayConfig<any> = {}) => {
  const log = new TestLogger();
  const router = gatewayMiddleware({ app: echo, auth: { type: 'none' }, logger: log, ...config });
  closeLater(router.gateway, (it) => it.close());
  const started = new Promise<object>((resolve) => router.gateway.on('started', resolve));
  return { router, gateway: router.gateway, log, started };
};

describe('gatewayMiddleware, before any request,', () => {
  it('goes on with what a former process left in the store', async () => {
    const path = `${tempDir()}/gateway.db`;
    const config = { embedded: true, auth: { type: 'none' }, limits: { drainMs: 0 } } as const;
    const before = createGateway({
      ...config,
      store: sqliteStore({ path }),
      logger: new TestLogger(),
      app: defineApp({ run: () => new Promise<void>(() => {}) }),
    });
    const session = before.session('main', { anonymous: true });
    await session.send('hangs').accepted;
    await session.send('queued').accepted;
    await before.close();

    const { gateway } = middleware({ store: sqliteStore({ path }) });
    await new Promise((resolve) =>
      gateway.on('run:ended', ({ stopReason }) => stopReason === 'end' && resolve(0)),
    );
    const { messages } = await gateway.session('main', { anonymous: true }).history();
    expect(messages.map(textOf).at(-1)).to.equal('echo: queued');
  });

  it('listens on its Unix socket, starts its plugins and says so', async () => {
    const socketPath = `${socketDirectory()}/gateway.sock`;
    const { gateway, started } = middleware({ socketPath });
    const begun: string[] = [];
    const plugin = (name: string) => ({ name, setup: () => {}, start: () => void begun.push(name) });
    gateway.use(plugin('early'));
    expect(await started).to.deep.equal({});
    expect(existsSync(socketPath)).to.equal(true);
    expect(await gateway.start()).to.deep.equal({ socketPath });
    gateway.use(plugin('late'));
    expect(begun).to.deep.equal(['early', 'late']);
  });

  it('starts a ready gateway that is embedded, and leaves one with a port of its own alone', async () => {
    for (const [config, starts] of [
      [{ embedded: true }, true],
      [{ port: 0 }, false],
    ] as const) {
      const ready = createGateway({ app: echo, auth: { type: 'none' }, logger: new TestLogger(), ...config });
      closeLater(ready, (it) => it.close());
      let started = false;
      ready.on('started', () => {
        started = true;
      });
      gatewayMiddleware(ready);
      // Another one, made later, has started: so would this one have.
      await middleware().started;
      expect(started).to.equal(starts);
    }
  });

  it('tells the log, and whoever asks, what went wrong', async () => {
    const { gateway, log } = middleware({
      store: sqliteStore({ path: tempDir() }),
    });
    const told = new Promise<{ message: string }>((resolve) => gateway.on('error', resolve));
    expect((await told).message).to.equal('starting the gateway');
    expect(log.lines.map(({ level, message }) => [level, message])).to.deep.include([
      'error',
      'starting the gateway',
    ]);
    const error = await gateway.start().catch((failed: unknown) => failed);
    expect(error).to.include({ code: 'STORE_FAILED' });
  });

  it('reports a plugin that came later and could not be started', async () => {
    const { gateway, started } = middleware();
    await started;
    const told = new Promise<{ message: string }>((resolve) => gateway.on('error', resolve));
    gateway.use({ name: 'late', setup: () => {}, start: () => Promise.reject(new Error('no')) });
    expect((await told).message).to.equal('the plugin late could not be started');
  });

  it('does not start what was closed at once', async () => {
    const { gateway, log } = middleware({ socketPath: `${socketDirectory()}/gateway.sock` });
    let started = false;
    gateway.on('started', () => {
      started = true;
    });
    await gateway.close();
    await middleware().started;
    expect(started).to.equal(false);
    expect(log.lines).to.deep.equal([]);
  });
});
