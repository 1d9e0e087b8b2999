import { expect } from 'chai';
import { LineDecoder } from '../../shared/ndjson.js';
import { echo } from '../support/apps.js';
import { get, startGateway } from '../support/gateway.js';
import { rawClient, requestText } from '../support/raw-client.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';

const MB = 1024 * 1024;

describe('threat row 17: big input', () => {
  it('is refused above a megabyte on every door, and one that has no end before it is there', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url } = await startGateway({ app: echo, socketPath });
    const declared = rawClient(url);
    declared.socket.write(
      requestText('POST /send', undefined, {
        'Content-Type': 'application/json',
        'Content-Length': String(2 * MB),
      }),
    );
    await declared.until(/^HTTP\/1\.1 413 /);
    const socket = await openWebSocket(url);
    await socket.connect();
    socket.send(`"${'x'.repeat(2 * MB)}"`);
    expect(await socket.closed).to.equal(1009);
    const line = await openUnixSocket(socketPath);
    await line.connect();
    const before = process.memoryUsage.rss();
    line.write('x'.repeat(2 * MB));
    expect((await line.until(({ type }) => type === 'error')).code).to.equal('PAYLOAD_TOO_LARGE');
    await line.closed;
    expect(process.memoryUsage.rss() - before).to.be.lessThan(40 * MB);
  });

  it('costs what it is large, also where each of its chunks is one byte', async () => {
    const { url } = await startGateway({ app: echo, limits: { sendsPerSecond: 1e6 } });
    const client = rawClient(url);
    client.socket.write(
      requestText('POST /send', undefined, {
        'Content-Type': 'application/json',
        'Transfer-Encoding': 'chunked',
      }),
    );
    // Half a megabyte that is not JSON: all of it is read before that is seen.
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(MB / 16));
    const before = process.memoryUsage();
    for (let i = 0; i < 7; i++) {
      await new Promise<void>((resolve) => client.socket.write(chunks, () => resolve()));
      expect((await get(`${url}/status`)).status).to.equal(200);
    }
    const { heapUsed, external } = process.memoryUsage();
    expect(heapUsed + external - before.heapUsed - before.external).to.be.lessThan(25 * MB);
    client.socket.write('0\r\n\r\n');
    await client.until(/^HTTP\/1\.1 400 /);
  });

  it('is kept in one piece, where a line comes byte by byte', () => {
    const lines = new LineDecoder(MB);
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < MB / 2; i++) for (const _ of lines.feed(new Uint8Array([120])));
    expect(process.memoryUsage().heapUsed - before).to.be.lessThan(32 * MB);
    expect([...lines.feed(new Uint8Array([10]))][0]!.length).to.equal(MB / 2);
  });
});
