import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Post,
  Res,
  UseGuards,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createClient, webSocketTransport } from '../../client/index.js';
import { type Gateway, GatewayError } from '../../server/index.js';
import {
  GATEWAY,
  GatewayController,
  GatewayModule,
  GatewayService,
  type HostResponse,
} from '../../server/nest/index.js';
import { textOf } from '../../shared/messages.js';
import { echo } from '../support/apps.js';
import { TestLogger } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';
import { PLATFORMS, startNest } from './nest-host.js';

const own = () => ({ app: echo, auth: byName, logger: new TestLogger() });
const json = { 'content-type': 'application/json', accept: 'application/json' };
const post = (url: string, body: unknown, headers: object) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...json, ...headers } });

/** Stands for a host's own login. */
class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const name = request.headers['x-user'];
    if (name) request.user = { id: name };
    context.switchToHttp().getResponse().header('x-guard', 'passed');
    return name !== 'stranger';
  }
}

const withoutAuth = { ...own(), auth: undefined, user: (request: { user?: { id: string } }) => request.user };
const byGuard = { ...own(), user: (request: { user?: { id: string } }) => request.user };

for (const platform of PLATFORMS) {
  describe(`a Nest host on ${platform.name}`, () => {
    it('has its prefix, version, guards and interceptors apply', async () => {
      const handled: string[] = [];
      const intercept = (context: ExecutionContext, next: CallHandler) => {
        handled.push(context.getHandler().name);
        return next.handle();
      };
      const { url } = await startNest(
        platform,
        {
          imports: [GatewayModule.forRoot(byGuard)],
          providers: [
            { provide: APP_GUARD, useClass: LoginGuard },
            { provide: APP_INTERCEPTOR, useValue: { intercept } },
          ],
        },
        (host) => {
          host.setGlobalPrefix('api');
          host.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        },
      );
      const sent = await post(
        `${url}/api/v1/send`,
        { sessionId: 'main', message: 'hi' },
        { 'x-user': 'carol' },
      );
      expect([sent.status, sent.headers.get('x-guard')]).to.deep.equal([200, 'passed']);
      expect(textOf((await sent.json()).message)).to.equal('echo: hi');
      const status = await fetch(`${url}/api/v1/_gateway/status`, { headers: { 'x-user': 'carol' } });
      expect((await status.json()).user).to.deep.equal({ id: 'carol' });
      // Whom the guards do not know, the gateway's own authentication may.
      const events = await openStream(`${url}/api/v1/events?token=carol&sessionId=main&from=earliest`);
      await events.until(({ event }) => event === 'message_end');
      expect((await fetch(`${url}/api/v1/_gateway/status`)).status).to.equal(401);
      const denied = await post(`${url}/api/v1/send`, {}, { 'x-user': 'stranger' });
      expect([denied.status, (await denied.json()).statusCode]).to.deep.equal([403, 403]);
      expect((await fetch(`${url}/send`)).status).to.equal(404);
      expect(handled).to.deep.equal(['send', 'extra', 'events', 'extra']);
    });

    it('answers as the gateway does: methods, preflights, bad bodies', async () => {
      const origin = 'https://page.test';
      const { url } = await startNest(platform, {
        imports: [GatewayModule.forRoot({ ...own(), origins: [origin] })],
      });
      const wrong = await fetch(`${url}/send`, { headers: as('alice') });
      expect([wrong.status, wrong.headers.get('allow')]).to.deep.equal([405, 'POST']);
      const headers = { origin, 'access-control-request-method': 'POST' };
      const preflight = await fetch(`${url}/send`, { method: 'OPTIONS', headers });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).to.deep.equal([
        204,
        origin,
      ]);
      const evil = await post(`${url}/send`, {}, { ...as('alice'), origin: 'https://evil.test' });
      expect((await evil.json()).error.code).to.equal('ORIGIN_DENIED');
      const bad = await post(`${url}/send`, { sessionId: 5 }, as('alice'));
      expect((await bad.json()).error.code).to.equal('INVALID_PARAMS');
      expect((await (await fetch(`${url}/_gateway/none`)).json()).error.code).to.equal('ROUTE_NOT_FOUND');
      expect((await fetch(`${url}/_gateway/healthz`)).status).to.equal(200);
      expect((await fetch(`${url}/history`)).status).to.equal(404);
    });

    it('lets pages in that its own CORS lets in, with its headers on streams too', async () => {
      const origin = 'https://page.test';
      const { url } = await startNest(platform, { imports: [GatewayModule.forRoot(own())] }, (host) =>
        host.enableCors({ origin }),
      );
      const headers = { ...as('alice'), origin };
      const events = await openStream(`${url}/events?sessionId=main`, { headers });
      expect(events.response.headers.get('access-control-allow-origin')).to.equal(origin);
      await events.until(({ event }) => event === 'connected');
    });

    it('may put the routes below a path and guards of its own', async () => {
      @UseGuards(LoginGuard)
      @Controller('chat')
      class ChatController extends GatewayController {}
      const { url } = await startNest(platform, {
        imports: [GatewayModule.forRoot({ ...byGuard, registerController: false })],
        controllers: [ChatController],
      });
      const sent = await post(
        `${url}/chat/send`,
        { sessionId: 'main', message: 'hi' },
        { 'x-user': 'carol' },
      );
      expect((await sent.json()).stopReason).to.equal('end');
      const history = await fetch(`${url}/chat/_gateway/history?sessionId=main`, {
        headers: { 'x-user': 'carol' },
      });
      expect((await history.json()).messages).to.have.length(2);
      expect((await post(`${url}/chat/send`, {}, { 'x-user': 'stranger' })).status).to.equal(403);
    });

    it('serves nobody whom its guards do not name, where the gateway has no auth', async () => {
      const { url } = await startNest(platform, {
        imports: [GatewayModule.forRoot(withoutAuth)],
        providers: [{ provide: APP_GUARD, useClass: LoginGuard }],
      });
      const send = (headers: object) => post(`${url}/send`, { sessionId: 'main', message: 'hi' }, headers);
      expect((await send({ 'x-user': 'carol' })).status).to.equal(200);
      const refused = await send({});
      expect([refused.status, ((await refused.json()) as any).error.code]).to.deep.equal([
        401,
        'UNAUTHENTICATED',
      ]);
      expect((await fetch(`${url}/_gateway/status`)).status).to.equal(401);
    });

    it('acts for users with the service, and answers its errors in the gateway’s form', async () => {
      @Controller('my')
      class MyController {
        @Inject(GatewayService)
        private readonly gateway!: GatewayService;

        @Get('events')
        events(@Res() response: HostResponse) {
          this.gateway.createConnection(response, {
            user: { id: 'dave' },
            sessionIds: ['main'],
            from: 'earliest',
          });
        }

        @Get('stream')
        stream(@Res() response: HostResponse) {
          this.gateway.createConnection(response);
        }

        @Post('say')
        say(@Body() body: { text: string }, @Res() response: HostResponse) {
          this.gateway.sendAndStream('main', body.text, response, {
            user: { id: 'dave' },
            idempotencyKey: 'k',
          });
        }

        @Post('follow')
        async follow(@Body() { id }: { id: string }) {
          const user = { id: 'dave' };
          const { subscriptions: first } = await this.gateway.subscribe(id, ['a', 'b'], { user });
          const { subscriptions: second } = await this.gateway.unsubscribe(id, ['a'], { user });
          await this.gateway.publishToChannel('b', 'news', 'tick', { n: 1 }, { user });
          return { first, second };
        }

        @Post('end')
        async end(@Body() { id }: { id: string }) {
          await this.gateway.abort(id, 'enough', { user: { id: 'dave' } });
          return this.gateway.close(id, { user: { id: 'dave' } });
        }

        @Post('mine')
        mine(@Res({ passthrough: true }) response: HostResponse) {
          return this.gateway.close('main', { response });
        }

        @Get('busy')
        busy() {
          throw new GatewayError({ code: 'RATE_LIMITED', retryAfterMs: 2000 });
        }

        @Get('secret')
        secret() {
          throw new GatewayError({ code: 'INTERNAL', cause: new Error('a secret') });
        }
      }
      const { url } = await startNest(platform, {
        imports: [GatewayModule.forRoot({ ...byGuard, registerController: false })],
        controllers: [MyController],
        providers: [{ provide: APP_GUARD, useClass: LoginGuard }],
      });
      const said = await openStream(`${url}/my/say`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"text":"hi"}',
      });
      await said.ended;
      expect(said.events.at(-1)!.event).to.equal('message_end');
      const again = await post(`${url}/my/say`, { text: 'hi' }, {});
      expect((await again.json()).runId).to.equal(said.events.at(-1)!.data.runId);
      const events = await openStream(`${url}/my/events`);
      await events.until(({ event }) => event === 'message_end');
      const { connectionId: id } = events.events[0]!.data;
      const followed = await (await post(`${url}/my/follow`, { id }, {})).json();
      expect(followed).to.deep.equal({ first: ['main', 'a', 'b'], second: ['main', 'b'] });
      const { data } = await events.until(({ event }) => event === 'channel');
      expect(data).to.deep.include({ channel: 'news', event: { type: 'tick', payload: { n: 1 } } });
      expect((await fetch(`${url}/my/stream?sessionId=main`)).status).to.equal(401);
      const missing = await post(`${url}/my/end`, { id: 'none' }, {});
      expect([missing.status, (await missing.json()).error.code]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
      expect(await (await post(`${url}/my/end`, { id: 'main' }, {})).json()).to.deep.equal({ ok: true });
      const mine = { eve: 404, 'x-user': 404, nobody: 401, foreign: 403 };
      expect((await post(`${url}/my/mine`, {}, as('eve'))).status).to.equal(mine.eve);
      expect((await post(`${url}/my/mine`, {}, { 'x-user': 'eve' })).status).to.equal(mine['x-user']);
      const nobody = await post(`${url}/my/mine`, {}, {});
      expect([nobody.status, nobody.headers.get('www-authenticate')]).to.deep.equal([mine.nobody, 'Bearer']);
      const foreign = await post(`${url}/my/mine`, {}, { ...as('dave'), origin: 'https://evil.test' });
      expect(foreign.status).to.equal(mine.foreign);
      expect((await fetch(`${url}/my/busy`)).headers.get('retry-after')).to.equal('2');
      const secret = await (await fetch(`${url}/my/secret`)).json();
      expect(secret.error.requestId).to.be.a('string');
      expect(JSON.stringify(secret)).not.to.include('a secret');
    });

    it('passes upgrades on', async () => {
      const { host, url } = await startNest(platform, { imports: [GatewayModule.forRoot(own())] });
      const gateway = host.get(GATEWAY) as Gateway;
      host.getHttpServer().on('upgrade', (request: never, socket: never, head: never) => {
        gateway.handleUpgrade(request, socket, head, { basePath: '/chat' });
      });
      const transport = webSocketTransport({
        baseUrl: `${url}/chat`,
        token: 'alice',
        WebSocket: WebSocket as never,
      });
      const client = closeLater(createClient({ transport }), (it) => it.disconnect());
      expect(textOf((await client.send('main', 'hi').result).message)).to.equal('echo: hi');
    });
  });
}
