import { expect } from 'chai';
import { get, startGateway } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { fill, MB, quiet } from './big-messages.js';

describe('threat row 21: connections and rates', () => {
  it('makes the answers to a flood of reads one after the other, not all at once', async () => {
    const { url } = await startGateway({ app: quiet, limits: { slowClientMs: 30_000 } });
    await fill(url, 4);
    const socket = await openWebSocket(url);
    await socket.connect();
    const before = process.memoryUsage.rss();
    socket.pause();
    for (let i = 0; i < 60; i++) {
      socket.say({ type: 'req', id: String(i), method: 'history', params: { sessionId: 'main' } });
    }
    // Somebody else is served meanwhile; by then all requests have arrived.
    for (let i = 0; i < 20; i++) expect((await get(`${url}/status`)).status).to.equal(200);
    expect(process.memoryUsage.rss() - before).to.be.lessThan(150 * MB);
    socket.resume();
    await socket.until(({ type, id }) => type === 'res' && id === '59');
    const answered = socket.frames.filter(({ type, ok }) => type === 'res' && ok === true);
    expect(answered.length).to.equal(60);
  });
});
