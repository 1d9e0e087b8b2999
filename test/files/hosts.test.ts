import { createServer as createHttp2 } from 'node:http2';
import { type HttpBindings, serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { INestApplication } from '@nestjs/common';
import { expect } from 'chai';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { createFiles } from '../../client/files/index.js';
import { createGateway, directoryFiles, gatewayMiddleware } from '../../server/index.js';
import { GatewayModule } from '../../server/nest/index.js';
import { PLATFORMS, startNest } from '../nest/nest-host.js';
import { echo } from '../support/apps.js';
import { failure } from '../support/client.js';
import { EXPRESS_HOSTS } from '../support/express-hosts.js';
import { uploadTo } from '../support/files.js';
import { TestLogger } from '../support/gateway.js';
import { listenOnLoopback, listenWith } from '../support/host-server.js';
import { Http2Client } from '../support/http2-client.js';
import { closeLater } from '../support/resources.js';
import { tempDir } from '../support/temp-dir.js';
import { as, byName } from '../support/users.js';

const SIZE = 5_000_000;
const config = () => ({ app: echo, auth: byName, logger: new TestLogger(), limits: { drainMs: 0 } });

function embedded() {
  const files = directoryFiles({ path: `${tempDir()}/files` });
  return closeLater(createGateway({ ...config(), embedded: true, files }), (it) => it.close());
}

/** Much more than any buffer on the way, and every part of it different. */
function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) & 255);
}

/** Uploads as a stream, and reads whole and in part. */
async function roundTrip(baseUrl: string, extraRoutes = ''): Promise<void> {
  const files = createFiles({ baseUrl, token: 'alice', extraRoutes });
  const bytes = bytesOf(SIZE);
  const stream = new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
  const { fileId, size } = await files.upload(stream, { name: 'x.bin' });
  expect(size).to.equal(SIZE);
  const whole = new Uint8Array(await (await files.download(fileId)).arrayBuffer());
  expect(Buffer.compare(whole, bytes)).to.equal(0);
  const range = { start: 4_000_000, end: 4_000_099 };
  const part = await files.download(fileId, { range });
  expect([part.status, part.headers.get('content-range')]).to.deep.equal([
    206,
    `bytes 4000000-4000099/${SIZE}`,
  ]);
  expect(new Uint8Array(await part.arrayBuffer())).to.deep.equal(bytes.slice(4_000_000, 4_000_100));
  const text = await files.upload(new Blob(['{"a":1}'], { type: 'application/json' }));
  expect(text.mediaType).to.equal('application/json');
}

describe('files behind a host', () => {
  it('of node:http, below a mount', async () => {
    const gateway = embedded();
    await roundTrip(
      `${await listenOnLoopback((request, response) => gateway.handleRequest(request, response, { basePath: '/deep/agent' }))}/deep/agent`,
    );
  });

  for (const { name, app, express } of EXPRESS_HOSTS) {
    it(`of ${name}, behind its body parsers`, async () => {
      const router = gatewayMiddleware(config());
      closeLater(router.gateway, (it) => it.close());
      const url = await listenOnLoopback(app().use(express.json()).use('/agent', router));
      await roundTrip(`${url}/agent`);
      const parsed = await uploadTo(`${url}/agent`, '{"a":1}', {
        headers: { 'content-type': 'application/json' },
      });
      expect([parsed.status, parsed.body.error.code]).to.deep.equal([400, 'INVALID_REQUEST']);
      expect(parsed.body.error.message).to.include('application/octet-stream');
      const raw = await listenOnLoopback(app().use(express.raw()).use('/agent', router));
      const read = await uploadTo(`${raw}/agent`, 'as a buffer');
      expect([read.status, read.body.size]).to.deep.equal([201, 11]);
    });
  }

  it('of Fastify, with a parser that leaves the body alone', async () => {
    const gateway = embedded();
    const host = closeLater(Fastify({ forceCloseConnections: true }), (it) => it.close());
    host.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
    host.all('/agent/*', (request, reply) => {
      reply.hijack();
      gateway.handleRequest(request.raw, reply.raw, { basePath: '/agent', body: request.body });
    });
    await roundTrip(`${await host.listen({ host: '127.0.0.1', port: 0 })}/agent`);
  });

  it('of Hono, through Node and through fetch', async () => {
    const gateway = embedded();
    const host = new Hono<{ Bindings: HttpBindings }>();
    host.all('/agent/*', (c) => {
      gateway.handleRequest(c.env.incoming, c.env.outgoing, { basePath: '/agent' });
      return RESPONSE_ALREADY_SENT;
    });
    host.all('/web/*', (c) => gateway.fetch(c.req.raw, { basePath: '/web' }));
    const url = await new Promise<string>((resolve) => {
      const server = serve({ fetch: host.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}`),
      );
      closeLater(server, (it) => {
        it.close();
        if ('closeAllConnections' in it) it.closeAllConnections();
      });
    });
    await roundTrip(`${url}/agent`);
    await roundTrip(`${url}/web`);
  });

  it('of fetch alone', async () => {
    const gateway = embedded();
    const fetch = (url: URL | RequestInfo, init?: RequestInit) => gateway.fetch(new Request(url, init));
    const files = createFiles({ baseUrl: 'http://gateway.test', token: 'alice', fetch });
    const bytes = bytesOf(SIZE);
    const stream = new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
    const { fileId } = await files.upload(stream);
    const read = await files.download(fileId);
    expect(Buffer.compare(new Uint8Array(await read.arrayBuffer()), bytes)).to.equal(0);
    const head = await fetch(files.url(fileId), { method: 'HEAD', headers: as('alice') });
    expect([head.status, head.headers.get('content-length'), head.body]).to.deep.equal([
      200,
      `${SIZE}`,
      null,
    ]);
    const left = await files.download(fileId);
    await left.body!.cancel();
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('cut'));
      },
    });
    const init = { method: 'POST', body: broken, headers: as('alice'), duplex: 'half' };
    expect(await failure(fetch('http://gateway.test/files', init as RequestInit))).to.include({
      code: 'INTERNAL',
    });
  });

  it('of HTTP/2', async () => {
    const gateway = embedded();
    const server = createHttp2((request, response) =>
      gateway.handleRequest(request as never, response as never),
    );
    const client = new Http2Client(await listenWith(server));
    const text = 'text '.repeat(SIZE / 5);
    const headers = { ...as('alice'), 'content-type': 'text/plain' };
    const { status, body } = await client.ask('/files', { ...headers, body: text });
    expect([status, body.size, body.mediaType]).to.deep.equal([201, SIZE, 'text/plain']);
    expect((await client.ask(`/files/${body.fileId}`, as('alice'))).text).to.equal(text);
    const part = await client.ask(`/files/${body.fileId}`, { ...as('alice'), range: 'bytes=-5' });
    expect([part.status, part.text]).to.deep.equal([206, 'text ']);
    expect((await client.ask(`/files/${body.fileId}`, as('bob'))).status).to.equal(404);
  });

  for (const platform of PLATFORMS) {
    it(`of Nest on ${platform.name}`, async () => {
      const leaveBodies = (host: INestApplication): void => {
        if (platform.name !== 'Fastify') return;
        host
          .getHttpAdapter()
          .getInstance()
          .addContentTypeParser(
            'application/octet-stream',
            (_request: unknown, _payload: unknown, done: any) => done(null),
          );
      };
      const imports = [GatewayModule.forRoot(config())];
      const { url } = await startNest(platform, { imports }, leaveBodies);
      await roundTrip(url, '/_gateway');
    });
  }
});
