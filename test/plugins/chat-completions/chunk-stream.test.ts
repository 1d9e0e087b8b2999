import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ChunkStream } from '../../../server/plugins/chat-completions/chunk-stream.js';
import { closeLater } from '../../support/resources.js';

/** A response, and the reader that gets it once it begins. */
async function respond(): Promise<{ response: ServerResponse; reader: Promise<IncomingMessage> }> {
  const server = closeLater(createServer().listen(0, '127.0.0.1'), (it) => {
    it.closeAllConnections();
    it.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = closeLater(get({ port, host: '127.0.0.1' }), (it) => it.destroy());
  const reader = once(request, 'response').then(([message]) => message as IncomingMessage);
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  return { response, reader };
}

describe('a stream of chunks', () => {
  it('waits for a reader that has stopped, holds little meanwhile, and loses nothing', async () => {
    const { response, reader } = await respond();
    const stream = new ChunkStream(response, { heartbeatMs: 1, slowClientMs: Number.POSITIVE_INFINITY });
    const text = 'x'.repeat(16 * 1024);
    const count = 2000;
    let most = 0;
    let blocked = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      blocked = resolve;
    });
    const writing = (async () => {
      for (let n = 0; n < count; n++) {
        const written = stream.write({ n, text });
        most = Math.max(most, response.writableLength);
        if (response.writableNeedDrain) blocked();
        await written;
      }
      stream.end('[DONE]');
    })();
    await stopped;
    let seen = '';
    for await (const piece of (await reader).setEncoding('utf8')) seen += piece;
    await writing;
    const events = seen.split('\n\n').filter((event) => event.startsWith('data: '));
    expect(events.pop()).to.equal('data: [DONE]');
    expect(events.map((event) => JSON.parse(event.slice(6)).n)).to.deep.equal(
      Array.from({ length: count }, (_, n) => n),
    );
    expect(most).to.be.below(256 * 1024);
  });
});
