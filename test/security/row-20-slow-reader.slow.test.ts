import { connect } from 'node:net';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { get, post, startGateway } from '../support/gateway.js';
import { askUnread, requestText } from '../support/raw-client.js';
import { openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { fill, MB, quiet } from './big-messages.js';

describe('threat row 20: a reader that does not read', () => {
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
});
