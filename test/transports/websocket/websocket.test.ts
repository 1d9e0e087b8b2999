import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import WebSocket from 'ws';
import { createGateway } from '../../../server/index.js';
import { SharedText, writeTo } from '../../../server/transports/shared-text.js';
import { textFrames } from '../../../server/transports/websocket/websocket-wire.js';
import { echo } from '../../support/apps.js';
import { startGateway, TestLogger, TOKEN } from '../../support/gateway.js';
import { Hearing } from '../../support/hearing.js';
import { listenWith, portOf } from '../../support/host-server.js';
import { head, rawRequest, WEBSOCKET_UPGRADE } from '../../support/raw-http.js';
import { openWebSocket } from '../../support/raw-socket.js';
import { closeLater } from '../../support/resources.js';

/** How an upgrade is answered that is refused. */
async function refused(url: string, path: string, headers: Record<string, string>) {
  const answer = await rawRequest(
    url,
    head(`GET ${path}`, { Host: new URL(url).host, ...WEBSOCKET_UPGRADE, ...headers }),
  );
  return { status: answer.status, code: answer.body === '' ? '' : JSON.parse(answer.body).error.code };
}

describe('WebSockets', () => {
  it('are refused before the upgrade to foreign pages, foreign names and foreign paths', async () => {
    const { url } = await startGateway({ app: echo, origins: ['https://app.example'] });
    const denied = { status: 403, code: 'ORIGIN_DENIED' };
    expect(await refused(url, '/ws', { Origin: 'https://evil.example' })).to.deep.equal(denied);
    expect(await refused(url, '/ws', { Origin: 'null' })).to.deep.equal(denied);
    expect(await refused(url, '/ws', { Host: 'evil.example' })).to.deep.equal(denied);
    expect(await refused(url, '/other', {})).to.deep.equal({ status: 404, code: 'ROUTE_NOT_FOUND' });
    for (const origin of ['https://app.example', url]) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { origin } });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      socket.terminate();
    }
  });

  it('are opened to the pages that a function lets in', async () => {
    const { url } = await startGateway({ app: echo, origins: (origin) => origin.endsWith('.app.example') });
    expect(await refused(url, '/ws', { Origin: 'https://app.example.evil.test' })).to.deep.equal({
      status: 403,
      code: 'ORIGIN_DENIED',
    });
    const origin = 'https://pr-7.app.example';
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { origin } });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.terminate();
  });

  it('are refused while the gateway drains', async () => {
    const { url, gateway } = await startGateway({
      app: echo,
      limits: { drainMs: 2000 },
      methods: { wait: () => new Promise((resolve) => setTimeout(resolve, 300)) },
    });
    const busy = await openWebSocket(url);
    await busy.connect();
    const answer = busy.ask('1', 'wait');
    await busy.ask('2', 'status');
    const closing = gateway.close();
    const answered = await refused(url, '/ws', {}).catch(() => ({ code: 'SHUTTING_DOWN' }));
    expect(answered).to.include({ code: 'SHUTTING_DOWN' });
    expect((await answer).ok).to.equal(true);
    await closing;
  });

  it('carry text of bounded size', async () => {
    const { url } = await startGateway({ app: echo, limits: { bodyBytes: 1000 } });
    const binary = await openWebSocket(url);
    binary.webSocket.send(Buffer.from('{}'));
    expect(await binary.closed).to.equal(1003);
    const big = await openWebSocket(url);
    big.send(' '.repeat(1001));
    expect(await big.closed).to.equal(1009);
    const pieces = await openWebSocket(url);
    for (let n = 0; n < 1100; n++) pieces.webSocket.send('', { fin: false });
    expect(await pieces.closed).to.equal(1008);
  });

  it('free the place of a dead peer', async () => {
    const { url, gateway } = await startGateway({ app: echo, limits: { heartbeatMs: 50 } });
    const disconnected = new Hearing(gateway, 'client:disconnected');
    const alive = await openWebSocket(url);
    await alive.connect();
    // A peer whose machine is gone: it answers no ping, and its connection stays open.
    const socket = closeLater(connect(Number(new URL(url).port), '127.0.0.1'), (it) => it.destroy());
    socket.write(head('GET /ws', { Host: new URL(url).host, ...WEBSOCKET_UPGRADE }));
    const hello = JSON.stringify({ type: 'connect', protocol: { min: 1, max: 1 }, token: TOKEN });
    const frame = textFrames([hello]);
    const masked = frame instanceof SharedText ? frame.bytes : frame;
    const bytes = Buffer.concat([
      masked.subarray(0, masked.length - hello.length),
      Buffer.alloc(4),
      Buffer.from(hello),
    ]);
    bytes[1] = bytes[1]! | 0x80;
    socket.write(bytes);
    const { connectionId } = await disconnected.nth(1);
    expect(connectionId).not.to.equal((await alive.event('connected')).connectionId);
    expect((await alive.ask('1', 'status')).ok).to.equal(true);
  });

  it('are framed as the protocol wants, whatever their size', async () => {
    const texts = [
      '',
      'x'.repeat(125),
      'é'.repeat(63),
      'y'.repeat(65_535),
      'z'.repeat(65_536),
      '漢'.repeat(50_000),
    ];
    const server = createServer();
    server.on('upgrade', (request, socket) => {
      const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
      expect(request.headers.upgrade).to.equal('websocket');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      writeTo(socket, textFrames(texts));
    });
    const socket = connect(await portOf(server), '127.0.0.1');
    closeLater(socket, (it) => it.destroy());
    socket.write(head('GET /', { Host: 'x', ...WEBSOCKET_UPGRADE }));
    const received = await new Promise<string[]>((resolve) => {
      let bytes = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
        const found = readFrames(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
        if (found.length === texts.length) resolve(found);
      });
    });
    expect(received.map(({ length }) => length)).to.deep.equal(texts.map(({ length }) => length));
    expect(received).to.deep.equal(texts);
  });

  it('can be handed over by a host, with the user it knows', async () => {
    const gateway = createGateway({
      app: echo,
      embedded: true,
      auth: { type: 'token', token: TOKEN },
      logger: new TestLogger(),
    });
    closeLater(gateway, (it) => it.close());
    const server = createServer();
    server.on('upgrade', (request, socket, first) => {
      gateway.handleUpgrade(request, socket, first, { basePath: '/deep/agent', user: { id: 'of-the-host' } });
    });
    const url = await listenWith(server);
    const socket = await openWebSocket(url, '/deep/agent/ws');
    await socket.connect({ token: undefined });
    expect((await socket.ask('1', 'status')).payload.user).to.deep.equal({ id: 'of-the-host' });
    expect(await refused(url, '/ws', {})).to.deep.equal({ status: 404, code: 'ROUTE_NOT_FOUND' });
  });
});

/** The texts of whole, final, unmasked text frames. */
function readFrames(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    expect(bytes[at]).to.equal(0x81);
    let length = bytes[at + 1]!;
    at += 2;
    if (length === 126) {
      if (at + 2 > bytes.length) return texts;
      length = bytes.readUInt16BE(at);
      at += 2;
    } else if (length === 127) {
      if (at + 8 > bytes.length) return texts;
      length = Number(bytes.readBigUInt64BE(at));
      at += 8;
    }
    if (at + length > bytes.length) return texts;
    texts.push(bytes.toString('utf8', at, at + length));
    at += length;
  }
  return texts;
}
