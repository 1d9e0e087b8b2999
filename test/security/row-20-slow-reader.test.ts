import { connect } from 'node:net';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { askUnread, rawClient, requestText } from '../support/raw-client.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';

const MB = 1024 * 1024;

/** A streaming method without end, and the news that its handler was ended. */
function endless() {
  const ended = gate();
  const flood = async function* () {
    try {
      for (;;) yield 'x'.repeat(MB);
    } finally {
      ended.open();
    }
  };
  return { flood, ended };
}

/** Puts messages of a megabyte each into a session. */
async function fill(url: string, count: number, sessionId = 'main'): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { status } = await post(`${url}/send`, { sessionId, message: 'm'.repeat(900_000) });
    expect(status).to.equal(200);
  }
}

const quiet = defineApp({ run: () => 'ok' });

describe('threat row 20: a reader that does not read', () => {
  for (const door of ['http', 'websocket', 'unix socket']) {
    it(`ends a streaming method over ${door}, whose handler waits for it meanwhile`, async () => {
      const { flood, ended } = endless();
      const socketPath = `${socketDirectory()}/g.sock`;
      const { url } = await startGateway({
        app: echo,
        socketPath,
        methods: { flood },
        limits: { slowClientMs: 300, heartbeatMs: 100 },
      });
      if (door === 'http') {
        const client = askUnread(url, 'POST /invoke', { method: 'flood' });
        await ended.passed;
        client.socket.resume();
        await client.closed;
      } else {
        const socket = door === 'websocket' ? await openWebSocket(url) : await openUnixSocket(socketPath);
        await socket.connect();
        socket.say({ type: 'req', id: '1', method: 'flood' });
        await socket.until(({ type }) => type === 'chunk');
        socket.pause();
        await ended.passed;
      }
    });
  }

  it('has an answer cut that is not taken, history among them, and is refused more meanwhile', async () => {
    const { url } = await startGateway({
      app: quiet,
      limits: { slowClientMs: 2000, heartbeatMs: 100, unreadBytes: MB, pageBytes: 64 * MB },
    });
    // More than the kernel's buffers take by themselves.
    await fill(url, 24);
    const client = askUnread(url, 'GET /history?sessionId=main&limit=1000');
    const small = `${url}/history?sessionId=main&limit=1`;
    for (;;) {
      const { status, body, headers } = await get(small);
      if (status === 200) continue;
      expect(status).to.equal(429);
      expect(body.error.code).to.equal('RATE_LIMITED');
      expect(headers.get('retry-after')).to.equal('1');
      break;
    }
    // It is cut, and then forgotten.
    while ((await get(small)).status !== 200);
    client.socket.resume();
    await client.closed;
  });

  /** The kernel takes megabytes at once and then for a while none: what waits is said to move twice a second at this rate. */
  const RATE = 10 * MB;
  const size = 20 * MB;
  const large = defineApp({ run: () => 'x'.repeat(size) });

  it('leaves a reader alone that is slow but takes what it is sent, however large one event is', async () => {
    const { url } = await startGateway({
      app: large,
      limits: { slowClientMs: 1500, heartbeatMs: 200, retention: { bytes: 1e9 } },
    });
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    const proxy = await FaultProxy.start(url);
    proxy.rate = RATE;
    const socket = closeLater(connect(Number(new URL(proxy.url).port), '127.0.0.1'), (it) => it.destroy());
    let bytes = 0;
    let tail = '';
    const told = new Promise<string>((resolve) => {
      socket.once('close', () => resolve('cut'));
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        tail = (tail + chunk.toString('latin1')).slice(-4);
        // The deltas are one half of it, the whole answer at its end the other.
        if (bytes > 2 * size && tail === '\n\n\r\n') resolve('whole');
      });
    });
    socket.write(requestText('GET /events?sessionId=main&from=earliest'));
    expect(await told).to.equal('whole');
  });

  it('leaves a WebSocket alone that is so slow that it answers no ping for long', async () => {
    const { url } = await startGateway({
      app: large,
      limits: { slowClientMs: 60_000, heartbeatMs: 800, retention: { bytes: 1e9 } },
    });
    const proxy = await FaultProxy.start(url);
    const socket = await openWebSocket(proxy.url);
    await socket.connect({ subscribe: [{ sessionId: 'main' }] });
    // Pings come after the event that is on its way, which takes longer than three of them may stay without an answer.
    proxy.rate = RATE;
    await post(`${url}/send`, { sessionId: 'main', message: 'x' });
    expect((await socket.event('message_end')).message.content[0].text).to.have.length(size);
  });

  it('gets pages of history and snapshots that are bounded in bytes, and all of them together', async () => {
    const { url } = await startGateway({ app: quiet, limits: { pageBytes: 2 * MB } });
    await fill(url, 6);
    const seen: number[] = [];
    let before = '';
    do {
      const { body } = await get(`${url}/history?sessionId=main&limit=1000${before}`);
      expect(JSON.stringify(body.messages).length).to.be.lessThan(2 * MB + 100);
      expect(body.hasMore).to.equal(body.cursor !== null);
      seen.unshift(...body.messages.map(({ content }: any) => content[0].text.length));
      before = body.cursor === null ? '' : `&before=${encodeURIComponent(body.cursor)}`;
    } while (before !== '');
    expect(seen).to.deep.equal(Array.from({ length: 6 }, () => [900_000, 2]).flat());
    const stream = rawClient(url);
    stream.socket.write(requestText('GET /events?sessionId=main&from=snapshot'));
    const [, data] = await stream.until(/event: snapshot\n(?:id: .*\n)?data: (.*)\n\n/);
    const { state } = JSON.parse(data!);
    expect(JSON.stringify(state.messages).length).to.be.lessThan(2 * MB + 100);
    expect(state.messages.length).to.be.greaterThan(1);
    expect(state.hasMore).to.equal(true);
  });

  it('gets one message in any case, also one that is larger than a page', async () => {
    const { url } = await startGateway({ app: quiet, limits: { pageBytes: 1000 } });
    await fill(url, 1);
    const { body } = await get(`${url}/history?sessionId=main`);
    expect(body.messages.map(({ role }: any) => role)).to.deep.equal(['assistant']);
    const older = await get(`${url}/history?sessionId=main&before=${encodeURIComponent(body.cursor)}`);
    expect(older.body.messages[0].content[0].text.length).to.equal(900_000);
    expect(older.body.hasMore).to.equal(false);
  });

  it('is cut when what the gateway has to tell it piles up, and not before', async () => {
    const { url } = await startGateway({ app: quiet, limits: { subscribesPerSecond: 1e9 } });
    await fill(url, 12);
    const reader = rawClient(url);
    reader.socket.write(requestText('GET /events?sessionId=other'));
    const [, connectionId] = await reader.until(/"connectionId":"([^"]+)"/);
    reader.socket.pause();
    // Blocked by events of the log, which wait there.
    await post(`${url}/subscribe`, { connectionId, add: [{ sessionId: 'main', from: 'earliest' }] });
    const add = Array.from({ length: 500 }, (_, i) => `name-${i}`);
    let rounds = 0;
    for (; rounds < 100; rounds++) {
      const { status } = await post(`${url}/subscribe`, { connectionId, add });
      if (status === 404) break;
    }
    expect(rounds).to.be.within(2, 60);
  });
});
