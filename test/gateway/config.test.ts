import { createServer } from 'node:net';
import { expect } from 'chai';
import {
  createGateway,
  defineApp,
  Gateway,
  type GatewayConfig,
  GatewayError,
  isGatewayError,
} from '../../server/index.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';

const logger = new TestLogger();
const config: GatewayConfig = { apps: { echo }, defaultApp: 'echo', logger };

function refusal(wrong: Record<string, unknown>): GatewayError {
  try {
    createGateway({ ...config, ...wrong } as GatewayConfig);
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
  throw new Error('the configuration was taken');
}

const pathsOf = (error: GatewayError): string[] =>
  (error.details as { path: string }[]).map(({ path }) => path);

describe('GatewayConfig', () => {
  it('port: 0 picks a free one, which start() tells', async () => {
    const gateway = closeLater(createGateway({ ...config, port: 0 }), (it) => it.close());
    const { url, host, port } = await gateway.start();
    expect(port).to.be.above(0);
    expect(host).to.equal('127.0.0.1');
    expect(url).to.equal(`http://127.0.0.1:${port}`);
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
  });

  it('port: 18789 by default; a port in use is named together with the option', async () => {
    const blocker = closeLater(createServer(), (it) => it.close());
    // Where another process has the port already, it is in use all the same.
    await new Promise<void>((resolve) => {
      blocker.once('error', () => resolve());
      blocker.listen(18_789, '127.0.0.1', () => resolve());
    });
    const gateway = closeLater(createGateway(config), (it) => it.close());
    const error = await gateway.start().then(
      () => expect.fail('it started'),
      (thrown: unknown) => thrown,
    );
    expect(error).to.include({ code: 'ADDRESS_IN_USE' });
    expect((error as Error).message)
      .to.match(/18789/)
      .and.match(/port option/);
  });

  it('port: start() can be tried again after the port became free', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', () => resolve()));
    const { port } = blocker.address() as { port: number };
    const gateway = closeLater(createGateway({ ...config, port }), (it) => it.close());
    expect(await gateway.start().catch((error: GatewayError) => error.code)).to.equal('ADDRESS_IN_USE');
    await new Promise((resolve) => blocker.close(resolve));
    expect((await gateway.start()).port).to.equal(port);
  });

  it('host: another loopback address, and its name is accepted', async () => {
    const { url } = await startGateway({ app: echo, host: '127.0.0.2' });
    expect(url).to.match(/^http:\/\/127\.0\.0\.2:/);
    expect((await get(`${url}/status`)).status).to.equal(200);
  });

  it('host: beyond loopback needs auth that is written out', () => {
    expect(refusal({ host: '0.0.0.0' }).message).to.match(/auth/);
    expect(pathsOf(refusal({ host: '0.0.0.0', auth: { type: 'token', token: 'short' } }))).to.deep.equal([
      'auth.token',
    ]);
    expect(() => createGateway({ ...config, host: '0.0.0.0', auth: { type: 'none' } })).not.to.throw();
    expect(() =>
      createGateway({ ...config, host: '0.0.0.0', auth: { type: 'token', token: TOKEN } }),
    ).not.to.throw();
  });

  it('id: generated when omitted, told by status and connected', async () => {
    const named = await startGateway({ app: echo, id: 'gateway-7' });
    expect((await get(`${named.url}/status`)).body).to.deep.include({ gatewayId: 'gateway-7' });
    expect(named.gateway.id).to.equal('gateway-7');
    const [one, two] = [createGateway(config), createGateway(config)];
    expect(one.id).to.be.a('string').and.not.equal('');
    expect(one.id).not.to.equal(two.id);
  });

  it('apps and defaultApp: keys with a colon reach the other apps, a bare one the default', async () => {
    const loud = defineApp({ run: async (turn) => turn.text.toUpperCase() });
    const { url } = await startGateway({ apps: { echo, loud }, defaultApp: 'echo' });
    const bare = await post(`${url}/send`, { sessionId: 'a', message: 'hi' });
    const named = await post(`${url}/send`, { sessionId: 'loud:a', message: 'hi' });
    const same = await get(`${url}/history?sessionId=echo:a`);
    expect(bare.body.message.content).to.deep.equal([{ type: 'text', text: 'echo: hi' }]);
    expect(named.body.message.content).to.deep.equal([{ type: 'text', text: 'HI' }]);
    expect(same.body.messages).to.have.length(2);
    expect((await get(`${url}/status?sessionId=echo:a`)).body.sessionId).to.equal('a');
  });

  it('app: the single form registers it as default', async () => {
    const { url } = await startGateway({ app: echo });
    expect((await get(`${url}/apps`)).body.apps).to.deep.include({
      name: 'default',
      description: 'Repeats what it is told',
      isDefault: true,
      tools: [],
    });
    await post(`${url}/send`, { sessionId: 'default:main', message: 'hi' });
    expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(2);
  });

  it('embedded: start() listens nowhere', async () => {
    const gateway = closeLater(createGateway({ ...config, embedded: true }), (it) => it.close());
    expect(await gateway.start()).to.deep.equal({});
  });

  it('that is left out, or is no object, is told what is missing', () => {
    const thrown = (...given: unknown[]) =>
      expect(() => (createGateway as (...args: unknown[]) => unknown)(...given)).to.throw(GatewayError);
    thrown().with.property(
      'message',
      'Invalid configuration: apps: at least one app is required: give app, or apps and defaultApp',
    );
    for (const given of [null, 7, 'app', [], () => {}])
      thrown(given).with.property(
        'message',
        'Invalid configuration: must be an object of fields, such as { app }',
      );
  });

  it('apps, defaultApp, app: wrong combinations name the field', () => {
    expect(pathsOf(refusal({ apps: {}, defaultApp: undefined }))).to.deep.equal(['apps']);
    expect(pathsOf(refusal({ apps: undefined }))).to.deep.equal(['apps']);
    expect(pathsOf(refusal({ defaultApp: undefined }))).to.deep.equal(['defaultApp']);
    expect(pathsOf(refusal({ defaultApp: 'other' }))).to.deep.equal(['defaultApp']);
    expect(pathsOf(refusal({ defaultApp: 'toString' }))).to.deep.equal(['defaultApp']);
    expect(pathsOf(refusal({ app: echo }))).to.deep.equal(['app']);
    expect(pathsOf(refusal({ apps: { 'a:b': echo }, defaultApp: 'a:b' }))).to.deep.equal(['apps.a:b']);
    expect(pathsOf(refusal({ apps: { x: {} }, defaultApp: 'x' }))).to.deep.equal(['apps.x']);
  });

  const wrong: Record<string, Record<string, unknown>> = {
    port: { port: 70_000 },
    host: { host: '' },
    id: { id: 'two words' },
    embedded: { embedded: 'yes' },
    auth: { auth: { type: 'magic' } },
    methods: { methods: 3 },
    sessionScope: { sessionScope: 'planet' },
    sessionAccess: { sessionAccess: true },
    store: { store: {} },
    onDisconnect: { onDisconnect: 'maybe' },
    extraRoutes: { extraRoutes: 'no slash' },
    origins: { origins: 'https://a.example' },
    'limits.bodyBytes': { limits: { bodyBytes: -1 } },
    'limits.bodyByte': { limits: { bodyByte: 1 } },
    'limits.retention.events': { limits: { retention: { events: 'many' } } },
    prot: { prot: 80 },
  };
  for (const [path, fields] of Object.entries(wrong)) {
    it(`${path}: a wrong value is an INVALID_REQUEST that names it`, () => {
      const error = refusal(fields);
      expect(error.code).to.equal('INVALID_REQUEST');
      expect(pathsOf(error).some((named) => named === path || named.startsWith(`${path}.`))).to.equal(true);
      expect(error.message).to.include(path);
    });
  }

  const meant: Record<string, string> = {
    '*': 'a function',
    null: 'sandboxed',
    'app.test': 'write "https://app.test"',
    'localhost:5173': 'write "http://localhost:5173"',
    'https://app.test/chat?x=1': 'write "https://app.test"',
    'https://me@app.test': 'write "https://app.test"',
    'https://*.app.test': 'a function',
    'wss://app.test': 'write "https://app.test"',
    'ws://app.test:81': 'write "http://app.test:81"',
    'https://': 'write it as browsers do',
    'https://app.test:99999': 'write it as browsers do',
    '': 'write it as browsers do',
  };
  for (const [origin, hint] of Object.entries(meant)) {
    it(`origins: ${JSON.stringify(origin)} would never match, and the error says what to do`, () => {
      const error = refusal({ origins: ['https://good.test', origin] });
      expect(pathsOf(error)).to.deep.equal(['origins.1']);
      expect(error.message).to.include(hint);
    });
  }

  it('origins: what is no text, and no list, names the field', () => {
    expect(pathsOf(refusal({ origins: [3] }))).to.deep.equal(['origins.0']);
    expect(pathsOf(refusal({ origins: true }))).to.deep.equal(['origins']);
  });

  it('no configuration error shows a secret', () => {
    const error = refusal({ auth: { type: 'token', token: 'hush-hush', tokn: 1 }, host: '0.0.0.0' });
    expect(JSON.stringify(error) + error.message).not.to.include('hush-hush');
  });

  it('createGateway(config) and new Gateway(config) make the same', () => {
    expect(createGateway(config)).to.be.instanceOf(Gateway);
    expect(() => new Gateway({} as GatewayConfig))
      .to.throw(GatewayError)
      .with.property('code', 'INVALID_REQUEST');
  });

  it('limits: Infinity switches one off', () => {
    expect(() => createGateway({ ...config, limits: { runMs: Number.POSITIVE_INFINITY } })).not.to.throw();
  });
});
