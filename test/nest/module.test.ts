import {
  Controller,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  Param,
  VersioningType,
} from '@nestjs/common';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import {
  type App,
  createGateway,
  defineApp,
  type Gateway,
  type GatewayPlugin,
  method,
} from '../../server/index.js';
import { GATEWAY, GATEWAY_APP, GatewayModule, GatewayService, getAppToken } from '../../server/nest/index.js';
import { textOf } from '../../shared/messages.js';
import { echo, heldApp } from '../support/apps.js';
import { failure } from '../support/client.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';
import { PLATFORMS, startNest } from './nest-host.js';

const own = () => ({ app: defineApp({ ...echo }), auth: byName, logger: new TestLogger() });
const post = (url: string, body: unknown, headers: object = as('alice')) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  });

for (const platform of PLATFORMS) {
  describe(`GatewayModule on ${platform.name}`, () => {
    it('injects the app of the single form, with its sessions', async () => {
      @Controller('own')
      class OwnController {
        @Inject(GATEWAY_APP)
        private readonly app!: App;

        @Get(':id')
        async history(@Param('id') id: string) {
          return this.app.session(id, { user: { id: 'alice' } }).history();
        }
      }
      const options = own();
      const { host, url } = await startNest(platform, {
        imports: [GatewayModule.forRoot(options)],
        controllers: [OwnController],
      });
      expect(host.get(GATEWAY_APP)).to.equal(options.app);
      expect(host.get(GatewayService).getApp()).to.equal(options.app);
      await post(`${url}/send`, { sessionId: 'conv-123', message: 'hi' });
      const { messages } = await (await fetch(`${url}/own/conv-123`)).json();
      expect(messages.map(textOf)).to.deep.equal(['hi', 'echo: hi']);
    });

    it('injects each app of the multi form, a plain object too', async () => {
      const plain = {
        async *run() {
          yield 'plain';
        },
      };
      const { host } = await startNest(platform, {
        imports: [
          GatewayModule.forRoot({
            ...{ apps: { sales: defineApp({ ...echo }), plain }, defaultApp: 'sales' },
            ...{ auth: byName, logger: new TestLogger() },
            methods: { ping: method({ handler: async () => 'pong' }) },
          }),
        ],
      });
      const user = { id: 'alice' };
      expect(host.get(GATEWAY_APP)).to.equal(host.get(getAppToken('sales')));
      const session = (host.get(getAppToken('plain')) as App).session('main', { user });
      expect(session.id).to.equal('plain:main');
      expect(textOf((await session.send('hi').result).message)).to.equal('plain');
      const service = host.get(GatewayService);
      expect(
        textOf((await service.getApp('sales').session('x', { user }).send('hi').result).message),
      ).to.equal('echo: hi');
      expect(() => service.getApp('none'))
        .to.throw()
        .that.includes({ code: 'APP_NOT_FOUND' });
    });

    it('is configured by a factory with what it injects', async () => {
      @Injectable()
      class Settings {
        readonly id = 'from-settings';
      }
      @Module({ providers: [Settings], exports: [Settings] })
      class SettingsModule {}
      const { host, url } = await startNest(platform, {
        imports: [
          GatewayModule.forRootAsync({
            imports: [SettingsModule],
            inject: [Settings],
            useFactory: async ({ id }: Settings) => ({
              ...{ id, auth: byName, logger: new TestLogger() },
              ...{ apps: { a: echo, b: echo }, defaultApp: 'a' },
            }),
            appNames: ['b'],
          }),
        ],
      });
      expect((host.get(GATEWAY) as Gateway).id).to.equal('from-settings');
      expect(host.get(getAppToken('b'))).to.equal(echo);
      expect((await fetch(`${url}/_gateway/status`, { headers: as('alice') })).status).to.equal(200);
    });

    it('says at the start what is wrong in a configuration', async () => {
      const wrong = GatewayModule.forRoot({ app: {} } as never);
      expect(
        await failure(startNest({ ...platform, adapter: platform.adapter }, { imports: [wrong] })),
      ).to.include({
        code: 'INVALID_REQUEST',
      });
    });

    it('takes a ready gateway, so that its type reaches the client', async () => {
      const gateway = createGateway({
        ...own(),
        embedded: true,
        extraRoutes: '/_gateway',
        methods: { ping: async () => ({ pong: true }) },
      });
      const { url } = await startNest(platform, { imports: [GatewayModule.forRoot({ gateway })] });
      const client = createClient<typeof gateway>({ baseUrl: url, token: 'alice', extraRoutes: '/_gateway' });
      closeLater(client, (it) => it.disconnect());
      const { pong } = await client.invoke('ping');
      expect(pong satisfies boolean).to.equal(true);
      expect((await client.apps()).apps).to.have.length(1);
    });

    it('registers no routes when it is told so', async () => {
      const { url } = await startNest(platform, {
        imports: [GatewayModule.forRoot({ ...own(), registerController: false })],
      });
      for (const path of ['/events', '/_gateway/status']) {
        const answer = await fetch(url + path, { headers: as('alice') });
        expect([answer.status, (await answer.json()).statusCode]).to.deep.equal([404, 404]);
      }
    });

    it('serves the routes of plugins that it is told of', async () => {
      const seen: string[] = [];
      const plugin: GatewayPlugin = {
        name: 'plain',
        setup: ({ route }) =>
          route('/v1', async ({ path, response, body, authenticate }) => {
            const { user } = await authenticate();
            seen.push(path, user.id, JSON.stringify(await body()));
            response.end('done');
          }),
      };
      const { url } = await startNest(
        platform,
        { imports: [GatewayModule.forRoot({ ...own(), plugins: [plugin], pluginPaths: ['/mcp', '/v1'] })] },
        (host) => host.setGlobalPrefix('api'),
      );
      expect(await (await post(`${url}/api/v1/chat/completions?x=/v1`, { a: 1 })).text()).to.equal('done');
      expect(await (await post(`${url}/api/v1`, {})).text()).to.equal('done');
      expect(seen).to.deep.equal(['/v1/chat/completions', 'alice', '{"a":1}', '/v1', 'alice', '{}']);
      expect((await (await post(`${url}/api/mcp`, {})).json()).error.code).to.equal('ROUTE_NOT_FOUND');
    });

    for (const [how, configure, base] of [
      [
        'a version',
        (host) => host.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
        '/v1',
      ],
      ['a prefix', (host) => host.setGlobalPrefix('v1'), '/v1'],
      [
        'a prefix and a version',
        (host) => {
          host.setGlobalPrefix('v1/_gateway');
          host.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        },
        '/v1/_gateway/v1',
      ],
    ] as readonly (readonly [string, (host: INestApplication) => unknown, string])[]) {
      it(`finds its own routes below ${how} that looks like them`, async () => {
        const plugin = (name: string): GatewayPlugin => ({
          name,
          setup: ({ route }) => route(name, ({ path, response }) => void response.end(path)),
        });
        const { url } = await startNest(
          platform,
          {
            imports: [
              GatewayModule.forRoot({
                ...own(),
                plugins: [plugin('/v1'), plugin('/mcp')],
                pluginPaths: ['/v1', '/mcp'],
              }),
            ],
          },
          configure,
        );
        for (const path of ['/v1/models', '/v1', '/v1/v1/x', '/mcp', '/mcp/v1'])
          expect(await (await fetch(url + base + path)).text()).to.equal(path);
        const status = await fetch(`${url}${base}/_gateway/status`, { headers: as('alice') });
        expect(status.status).to.equal(200);
      });
    }

    it('refuses a ready gateway that Nest cannot serve, and names the option', async () => {
      const made = (config: object) => closeLater(createGateway({ ...own(), ...config }), (it) => it.close());
      const listening = made({ port: 0 });
      const elsewhere = made({ embedded: true });
      for (const [gateway, path] of [
        [listening, 'gateway.embedded'],
        [elsewhere, 'gateway.extraRoutes'],
      ] as const) {
        let started = false;
        gateway.on('started', () => {
          started = true;
        });
        expect(() => GatewayModule.forRoot({ gateway }))
          .to.throw(path)
          .that.includes({ code: 'INVALID_REQUEST' });
        const module = GatewayModule.forRootAsync({ useFactory: async () => ({ gateway }) });
        expect((await failure(startNest(platform, { imports: [module] }))).details).to.have.nested.property(
          '[0].path',
          path,
        );
        expect(started).to.equal(false);
      }
      // Without the default controller its routes are wherever the host has them.
      await startNest(platform, {
        imports: [GatewayModule.forRoot({ gateway: elsewhere, registerController: false })],
      });
    });

    it('starts with the application and drains before its server closes', async () => {
      const { app, began, held } = heldApp();
      const socketPath = `${socketDirectory()}/gateway.sock`;
      const limits = { drainMs: 10_000 };
      const { host, url } = await startNest(platform, {
        imports: [GatewayModule.forRoot({ ...own(), app, socketPath, limits })],
      });
      const gateway = host.get(GATEWAY) as Gateway;
      expect(await gateway.start()).to.include({ socketPath });
      const events = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: as('alice') });
      const run = post(`${url}/send`, { sessionId: 'main', message: 'x' });
      await began.passed;
      const stopped = new Promise((resolve) => gateway.on('stopped', resolve));
      const closed = host.close();
      await events.ended;
      expect(events.retryMs).to.be.a('number');
      held.open();
      expect((await (await run).json()).stopReason).to.equal('end');
      await Promise.all([closed, stopped]);
    });
  });
}
