import { expect } from 'chai';
import WebSocket from 'ws';
import { echo } from '../support/apps.js';
import { get, startGateway, TOKEN } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';

describe('threat row 18: floods of fragments and of frames that ask for nothing', () => {
  for (const piece of ['x', '']) {
    it(`close a socket that sends a message in pieces of ${piece.length} bytes`, async () => {
      const { url } = await startGateway({ app: echo });
      const socket = closeLater(new WebSocket(`${url.replace('http', 'ws')}/ws`), (it) => it.terminate());
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(JSON.stringify({ type: 'connect', protocol: { min: 1, max: 1 }, token: TOKEN }));
      const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)));
      const before = process.memoryUsage.rss();
      for (let i = 0; i < 100_000 && socket.readyState === socket.OPEN; i++) {
        socket.send(piece, { fin: false });
        if (i % 1000 === 0) await new Promise(setImmediate);
      }
      expect(await closed).to.be.oneOf([1006, 1008, 1009]);
      expect(process.memoryUsage.rss() - before).to.be.lessThan(100 * 1024 * 1024);
      expect((await get(`${url}/status`)).status).to.equal(200);
    });
  }

  it('close a socket that pings, or sends what is nothing, without end', async () => {
    const { url } = await startGateway({ app: echo });
    for (const text of ['{"type":"ping","timestamp":1}', 'no json', '{"type":"auth","token":"wrong"}']) {
      const socket = await openWebSocket(url);
      await socket.connect();
      for (let i = 0; i < 2000; i++) socket.send(text);
      expect(await socket.closed).to.equal(1008);
    }
  });
});
