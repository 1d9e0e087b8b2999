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

  it('keep nobody of another address out, however many sockets of one say nothing', async () => {
    const { url } = await startGateway({ app: echo, trustProxy: true, limits: { handshakes: 40 } });
    const from = (address: string) => openWebSocket(url, '/ws', { 'x-forwarded-for': address });
    const refused = (address: string) =>
      from(address).then(
        () => 'let in',
        ({ message }: Error) => /503/.exec(message)?.[0],
      );
    const known = await from('192.0.2.1');
    await known.connect();
    const silent = [];
    for (let i = 0; i < 40; i++) silent.push(await from('192.0.2.1'));
    expect(await refused('192.0.2.1')).to.equal('503');
    for (const address of ['198.51.100.1', '203.0.113.1', '2001:db8::1'])
      await (await from(address)).connect();
    const others = [];
    for (let i = 0; i < 8; i++) others.push(await from('198.51.100.2'));
    // Those that came first of the many made place, and no more than it took.
    await Promise.all(silent.slice(0, 8).map(({ closed }) => closed));
    await silent.at(-1)!.connect();
    await (await from('192.0.2.1')).connect();
    // Now all addresses are within their share, so all places are taken.
    others.push(await from('198.51.100.2'));
    expect(await refused('198.51.100.3')).to.equal('503');
    expect((await known.ask('1', 'status')).ok).to.equal(true);
    await others[0]!.connect();
  });
});
