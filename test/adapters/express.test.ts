import { expect } from 'chai';
import compression from 'compression';
import cors from 'cors';
import type { Express } from 'express';
import helmet from 'helmet';
import supertest from 'supertest';
import { createGateway, type GatewayConfig, gatewayMiddleware } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { EXPRESS_HOSTS } from '../support/express-hosts.js';
import { TestLogger } from '../support/gateway.js';
import { listenOnLoopback } from '../support/host-server.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const middleware = (config: Partial<GatewayConfig<any>> = {}, options = {}) => {
  const router = gatewayMiddleware({ app: echo, auth: byName, logger: new TestLogger(), ...config }, options);
  closeLater(router.gateway, (it) => it.close());
  return router;
};

const sending = {
  method: 'POST',
  headers: { ...as('alice'), 'content-type': 'application/json' },
  body: '{"sessionId":"main","message":"hi"}',
};

const send = (app: Express, path: string, body: object = { sessionId: 'main', message: 'hi' }) =>
  supertest(app).post(path).set(as('alice')).set('accept', 'application/json').send(body);

for (const host of EXPRESS_HOSTS) {
  describe(`gatewayMiddleware in ${host.name}`, () => {
    for (const mount of ['/', '/agent', '/a/b']) {
      for (const parser of ['without express.json()', 'after express.json()', 'before express.json()']) {
        it(`serves under ${mount} ${parser}`, async () => {
          const app = host.app();
          if (parser.startsWith('after')) app.use(host.express.json());
          app.use(mount, middleware());
          if (parser.startsWith('before')) app.use(host.express.json());
          app.post('/echo', (request, response) => void response.json(request.body ?? 'nothing'));
          const base = mount === '/' ? '' : mount;
          const answer = await send(app, `${base}/send`);
          expect(answer.status).to.equal(200);
          expect(answer.body.message.content[0].text).to.equal('echo: hi');
          expect(
            (await supertest(app).get(`${base}/history?sessionId=main`).set(as('alice'))).body.messages,
          ).to.have.length(2);
          expect((await supertest(app).get(`${base}/status`)).status).to.equal(401);
          const own = await supertest(app).post('/echo').send({ a: 1 });
          expect(own.status).to.equal(200);
          if (!parser.startsWith('without')) expect(own.body).to.deep.equal({ a: 1 });
          const url = await listenOnLoopback(app);
          const stream = await openStream(`${url}${base}/send`, sending);
          await stream.ended;
          expect(stream.events.at(-1)!.event).to.equal('message_end');
        });
      }
    }

    it('passes unknown paths to next() and leaves the routes, errors and bodies of the host alone', async () => {
      const app = host.app();
      app.use('/agent', middleware());
      app.get('/agent/own', (_request, response) => void response.send('own below'));
      app.get('/status', (_request, response) => void response.send('own status'));
      app.post(
        '/agent/upload',
        host.express.text(),
        (request, response) => void response.send(`got ${request.body}`),
      );
      expect((await supertest(app).get('/agent/own')).text).to.equal('own below');
      expect((await supertest(app).get('/status')).text).to.equal('own status');
      expect((await supertest(app).post('/agent/upload').type('text').send('body')).text).to.equal(
        'got body',
      );
      const missing = await supertest(app).get('/agent/nothing');
      expect(missing.status).to.equal(404);
      expect(missing.headers['content-type']).to.match(/html/);
      const foreign = await supertest(app)
        .get('/agent/own')
        .set('origin', 'https://evil.test')
        .set('host', 'any.example');
      expect(foreign.status).to.equal(200);
      expect(foreign.headers['access-control-allow-origin']).to.equal(undefined);
    });

    it('takes bodies of other parsers: text, raw, and refuses what was read and not parsed', async () => {
      for (const parse of [host.express.text({ type: '*/*' }), host.express.raw({ type: '*/*' })]) {
        const app = host.app();
        app.use(parse, middleware());
        expect((await send(app, '/send')).status).to.equal(200);
        expect(
          (await supertest(app).post('/send').set(as('alice')).type('json').send('{"a":')).body.error.code,
        ).to.equal('INVALID_REQUEST');
      }
      const app = host.app();
      app.use((request, _response, next) => {
        request.on('end', () => next()).resume();
      }, middleware());
      expect((await send(app, '/send')).body.error.code).to.equal('INVALID_REQUEST');
    });

    it('checks parsed bodies like its own: depth, keys, types', async () => {
      const app = host.app();
      app.use(
        host.express.json({ strict: false }),
        middleware({ methods: { echo: async (params: unknown) => params } }),
      );
      const nested = JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`);
      const bad = [
        { method: 'echo', params: nested },
        JSON.parse('{"method":"echo","params":{"__proto__":{"admin":true}}}'),
      ];
      for (const body of bad)
        expect((await send(app, '/invoke', body)).body.error.code).to.equal('INVALID_REQUEST');
      for (const body of ['[]', 'null', '5', '"text"']) {
        const answer = await supertest(app).post('/invoke').set(as('alice')).type('json').send(body);
        expect(answer.status, body).to.equal(400);
        expect(answer.body.error.code, body).to.match(/^INVALID_/);
      }
    });

    it('streams live behind compression: nothing is held back', async () => {
      const app = host.app();
      const { app: held, began, held: gate } = heldApp();
      app.use(compression({ threshold: 0 }), middleware({ app: held }));
      app.get('/own', (_request, response) => void response.send('x'.repeat(5000)));
      const url = await listenOnLoopback(app);
      const stream = await openStream(`${url}/send`, {
        ...sending,
        headers: { ...sending.headers, 'accept-encoding': 'gzip' },
      });
      await stream.until(({ event }) => event === 'content_delta');
      await began.passed;
      expect(stream.events.at(-1)!.data.delta).to.equal('working ');
      expect(stream.response.headers.get('content-encoding')).to.equal(null);
      const events = await openStream(`${url}/events?sessionId=main&from=earliest`, {
        headers: { ...as('alice'), 'accept-encoding': 'gzip' },
      });
      await events.until(({ event }) => event === 'content_delta');
      gate.open();
      await stream.ended;
      expect(stream.events.at(-1)!.event).to.equal('message_end');
      const own = await fetch(`${url}/own`, { headers: { 'accept-encoding': 'gzip' } });
      expect(own.headers.get('content-encoding')).to.equal('gzip');
    });

    it('behind helmet and cors: their headers stay, and an origin that cors let in may call', async () => {
      const app = host.app();
      const origin = 'https://app.example';
      app.use(helmet(), cors({ origin }), middleware());
      const url = await listenOnLoopback(app);
      const stream = await openStream(`${url}/send`, { ...sending, headers: { ...sending.headers, origin } });
      await stream.ended;
      expect(stream.response.headers.get('content-security-policy')).to.be.a('string');
      expect(stream.response.headers.get('access-control-allow-origin')).to.equal(origin);
      expect(stream.events.at(-1)!.event).to.equal('message_end');
      const evil = await supertest(app).get('/status').set(as('alice')).set('origin', 'https://evil.test');
      expect([evil.status, evil.body.error.code]).to.deep.equal([403, 'ORIGIN_DENIED']);
    });

    it("takes the user of the host's own authentication, from a ready gateway too", async () => {
      const gateway = closeLater(
        createGateway({ app: echo, auth: byName, embedded: true, logger: new TestLogger() }),
        (it) => it.close(),
      );
      const app = host.app();
      const user = (request: { headers: Record<string, unknown> }) => {
        const id = request.headers['x-user'];
        return typeof id === 'string' ? { id } : undefined;
      };
      const router = gatewayMiddleware(gateway, { user: user as never });
      app.use('/agent', router);
      expect(router.gateway).to.equal(gateway);
      expect((await supertest(app).get('/agent/status').set('x-user', 'carol')).body.user).to.deep.equal({
        id: 'carol',
      });
      expect((await supertest(app).get('/agent/status')).status).to.equal(401);
      expect((await supertest(app).get('/agent/status').set(as('dave'))).body.user).to.deep.equal({
        id: 'dave',
      });
    });

    for (const auth of [undefined, { type: 'none' }] as const) {
      it(`serves nobody whom the host does not name, where auth is ${auth ? 'none' : 'not set'}`, async () => {
        const app = host.app();
        const user = ({ headers }: { headers: Record<string, unknown> }) =>
          headers['x-user'] === undefined ? undefined : { id: String(headers['x-user']) };
        const log = new TestLogger();
        const options = { app: echo, auth, logger: log };
        app.use('/agent', gatewayMiddleware(options, { user: user as never }));
        expect(log.lines).to.deep.equal([]);
        const status = () => supertest(app).get('/agent/status');
        expect((await status().set('x-user', 'carol')).body.user).to.deep.equal({ id: 'carol' });
        const { body, status: refused } = await status();
        expect([refused, body.error.code]).to.deep.equal([401, 'UNAUTHENTICATED']);
        const sent = await supertest(app).post('/agent/send').send({ sessionId: 'main', message: 'hi' });
        expect(sent.status).to.equal(401);
      });
    }

    for (const [fault, given] of [
      ['id is not', { id: 1 }],
      ['id is not', { _id: 'a' }],
      ['id is not', { id: '' }],
      ['id is not', Promise.resolve({ id: 'a' })],
      ['the user is not an object', false],
      ['the user is not an object', 'a'],
    ] as const) {
      it(`tells the log of a wrong user of the host: ${JSON.stringify(given)}`, async () => {
        const log = new TestLogger();
        const app = host.app();
        app.use('/', middleware({ auth: { type: 'none' }, logger: log }, { user: () => given }));
        expect((await supertest(app).get('/status')).status).to.equal(401);
        expect(log.lines).to.have.length(2);
        const [mistake, refusal] = log.lines;
        expect(mistake!.level).to.equal('error');
        expect(String((mistake!.details as { err: Error }).err))
          .to.contain("the host's user: ")
          .and.contain(fault);
        expect(refusal!.message).to.equal('a caller was refused');
        expect(refusal!.details).to.have.property('reason').that.contains(fault);
      });
    }

    it('two gateways in one app do not know each other', async () => {
      const app = host.app();
      app.use('/one', middleware());
      app.use('/two', middleware());
      await send(app, '/one/send');
      expect((await supertest(app).get('/one/history?sessionId=main').set(as('alice'))).status).to.equal(200);
      expect((await supertest(app).get('/two/history?sessionId=main').set(as('alice'))).status).to.equal(404);
    });
  });
}
