import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createGateway, defineApp, memoryStore, type Store } from '../../server/index.js';
import { jsonHeaders, TestLogger, TOKEN } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { closeLater } from '../support/resources.js';
import { ResumingReader } from '../support/resuming-reader.js';
import { SessionView } from '../support/session-view.js';
import { RawReader } from '../support/sse-client.js';
import { testStore } from '../support/test-store.js';

const MiB = 1024 * 1024;
const PIECE = 'p'.repeat(16 * 1024);

/** Streams as many MiB as its message says, a piece an event-loop turn; not as its answer, which would be kept whole. */
const flood = defineApp({
  run: async (turn) => {
    for (let i = 0; i < Number(turn.text) * 64; i++) {
      turn.emit('piece', PIECE);
      await new Promise(setImmediate);
    }
  },
});

// Collecting before measuring shows what is held instead of what is not yet thrown away.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heldMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A gateway whose server-side sockets the test can look at. */
async function setUp(retentionBytes: number, store: Store) {
  const limits = {
    slowClientMs: 1000,
    heartbeatMs: 100,
    drainMs: 0,
    retention: { bytes: retentionBytes, events: 1e6 },
  };
  const auth = { type: 'token', token: TOKEN } as const;
  const gateway = createGateway({
    embedded: true,
    app: flood,
    auth,
    limits,
    store,
    logger: new TestLogger(),
  });
  const sockets: { readonly url: string; readonly socket: Socket }[] = [];
  const server = createServer((request, response) => {
    sockets.push({ url: request.url ?? '', socket: request.socket });
    gateway.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeLater(server, (it) => {
    it.closeAllConnections();
    it.close();
    return gateway.close();
  });
  const { port } = server.address() as AddressInfo;
  const stalledOnServer = (): Socket | undefined =>
    sockets.find(({ url }) => url.includes('stalled'))?.socket;
  return { gateway, port, url: `http://127.0.0.1:${port}`, stalledOnServer };
}

/** Opens a stream and never reads it. */
async function stall(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  closeLater(socket, (it) => it.destroy());
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.write(
    `GET /events?sessionId=m&from=earliest&stalled HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  );
  return socket;
}

/** What a stalled client finds in its kernel's buffers when it reads after all. */
async function readRest(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  await closed;
  return Buffer.concat(chunks);
}

describe('a reader that stops reading', () => {
  it('holds neither memory nor the others, is closed, and resumes exactly', async () => {
    const model = testStore();
    const { gateway, port, url, stalledOnServer } = await setUp(200 * MiB, model.store);
    await fetch(`${url}/channel`, {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ sessionId: 'm', channel: 'c', payload: 0 }),
    });
    const left = new Hearing(gateway, 'client:disconnected');
    const stalled = await stall(port);
    let most = 0;
    let bytes = 0;
    const fast = new SessionView('m', { place: 'earliest' });
    const isEnd = (event: { event: string }): boolean => event.event === 'message_end';
    const reading = new ResumingReader(`${url}/events?sessionId=m&from=earliest`, {
      event: (event) => {
        fast.take(event);
        bytes += event.data.payload?.length ?? 0;
        most = Math.max(most, stalledOnServer()?.writableLength ?? 0);
      },
      done: isEnd,
    }).run();
    const body = JSON.stringify({ sessionId: 'm', message: '20' });
    await fetch(`${url}/send`, {
      method: 'POST',
      headers: { ...jsonHeaders(), prefer: 'respond-async' },
      body,
    });
    await reading;
    expect(bytes).to.equal(20 * MiB);
    expect(fast.cursors).to.deep.equal(model.eventsOf('m').map((event) => event.cursor));
    // A high-water mark and what was written last.
    expect(most).to.be.within(1, MiB);
    // The fast reader leaves, too.
    for (const n of [1, 2]) expect((await left.nth(n)).transport).to.equal('sse');
    expect(stalledOnServer()?.destroyed).to.equal(true);

    const view = new SessionView('m', { place: 'earliest' });
    const received = dechunk(await readRest(stalled));
    let lastEventId = '';
    for (const event of new RawReader().feed(received)) {
      if (event.id !== undefined) lastEventId = event.id;
      view.take(event);
    }
    expect(view.cursors.length).to.be.within(1, model.eventsOf('m').length - 1);
    const resumed = new ResumingReader(
      `${url}/events?sessionId=m`,
      { event: (event) => view.take(event), done: isEnd },
      lastEventId,
    );
    await resumed.run();
    expect(view.gaps).to.deep.equal([]);
    expect(view.cursors).to.deep.equal(fast.cursors);
  });

  it('does not make the process grow with what others stream', async () => {
    const { port, url, stalledOnServer } = await setUp(MiB, memoryStore());
    await stall(port);
    const read = async (): Promise<number> => {
      const response = await fetch(`${url}/send`, {
        method: 'POST',
        headers: jsonHeaders(),
        body: JSON.stringify({ sessionId: 'm', message: '60' }),
      });
      let size = 0;
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > (samples + 1) * 6 * MiB) {
          samples += 1;
          most = Math.max(most, heldMemory());
        }
        held = Math.max(held, stalledOnServer()?.writableLength ?? 0);
      }
      return size;
    };
    let samples = 0;
    let held = 0;
    const before = heldMemory();
    let most = before;
    expect(await read()).to.be.greaterThan(60 * MiB);
    expect(held).to.be.lessThan(MiB);
    expect(samples).to.be.at.least(9);
    expect(most - before).to.be.lessThan(20 * MiB);
  });
});

/** The body of an HTTP/1.1 response, as far as it came. */
function dechunk(raw: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = raw.indexOf('\r\n\r\n') + 4;
  while (at < raw.length) {
    const lineEnd = raw.indexOf('\r\n', at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(raw.subarray(at, lineEnd).toString(), 16);
    parts.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
