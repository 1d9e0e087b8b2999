import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway } from '../support/gateway.js';
import { askUnread, rawClient, requestText } from '../support/raw-client.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';
import { fill, MB, quiet } from './big-messages.js';

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
    const [, data] = await stream.until(/event: snapshot\ndata: (.*)\n(?:id: .*\n)?\n/);
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
