import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { startGateway, TOKEN } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';

describe('threat row 17: big input', () => {
  it('may be less before a stranger has said who it is', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url } = await startGateway({ app: echo, socketPath });
    const socket = await openWebSocket(url);
    socket.send(JSON.stringify({ type: 'connect', token: TOKEN, pad: 'x'.repeat(600_000) }));
    expect(await socket.closed).to.equal(1009);
    const line = await openUnixSocket(socketPath);
    line.write('x'.repeat(600_000));
    expect((await line.until(({ type }) => type === 'error')).code).to.equal('PAYLOAD_TOO_LARGE');
    await line.closed;
    // Whoever is known may send a megabyte.
    const known = await openWebSocket(url);
    await known.connect();
    const { ok } = await known.ask('1', 'send', { sessionId: 'main', message: 'x'.repeat(900_000) });
    expect(ok).to.equal(true);
  });
});
