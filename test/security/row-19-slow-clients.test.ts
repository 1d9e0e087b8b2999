import { connect } from 'node:net';
import { expect } from 'chai';
import { echo } from '../support/apps.js';
import { get, startGateway, TOKEN } from '../support/gateway.js';
import { rawClient, requestText } from '../support/raw-client.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';

describe('threat row 19: clients that take their time', () => {
  it('are cut while their head, their body or their first frame is not whole; others are served meanwhile', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url } = await startGateway({ app: echo, socketPath, limits: { handshakeMs: 150 } });
    const heads = Array.from({ length: 50 }, () => {
      const client = rawClient(url);
      client.socket.write('GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      return client;
    });
    const body = rawClient(url);
    body.socket.write(
      requestText('POST /send', undefined, { 'Content-Type': 'application/json', 'Content-Length': '100' }),
    );
    body.socket.write('{');
    const silent = [await openWebSocket(url), await openUnixSocket(socketPath)];
    expect((await get(`${url}/status`)).status).to.equal(200);
    await Promise.all([...heads, body].map(({ closed }) => closed));
    for (const { text } of [...heads, body]) expect(text()).to.match(/^HTTP\/1\.1 408 /);
    for (const socket of silent) {
      expect((await socket.until(({ type }) => type === 'error')).code).to.equal('INVALID_REQUEST');
      await socket.closed;
    }
  });

  it('hold no more sockets than there are places for strangers, and those who are known none', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { url } = await startGateway({ app: echo, socketPath, limits: { handshakes: 2 } });
    const known = await openWebSocket(url);
    await known.connect();
    const strangers = [await openWebSocket(url), await openWebSocket(url)];
    const refused = await openWebSocket(url).then(
      () => 'let in',
      (error: Error) => error.message,
    );
    expect(refused).to.include('503');
    const line = closeLater(connect(socketPath), (it) => it.destroy());
    const told = await new Promise<string>((resolve) => line.once('data', (data) => resolve(String(data))));
    expect(JSON.parse(told)).to.include({ type: 'error', code: 'OVERLOADED' });
    // One of them says who it is, one leaves: there is place again.
    await strangers[0]!.connect({ token: TOKEN });
    await (await openWebSocket(url)).connect();
    strangers[1]!.destroy();
    await strangers[1]!.closed;
    expect((await known.ask('1', 'status')).ok).to.equal(true);
    await (await openUnixSocket(socketPath)).connect();
  });
});
