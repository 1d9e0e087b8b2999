import { expect } from 'chai';
import { echo } from '../../support/apps.js';
import { startGateway, TOKEN } from '../../support/gateway.js';
import { openUnixSocket } from '../../support/raw-socket.js';
import { socketDirectory } from '../../support/socket-directory.js';

async function open(bodyBytes = 1000) {
  const socketPath = `${socketDirectory()}/g.sock`;
  await startGateway({
    app: echo,
    socketPath,
    limits: { bodyBytes },
    methods: { echo: (params: unknown) => params },
  });
  const socket = await openUnixSocket(socketPath);
  await socket.connect();
  return socket;
}

describe('lines of the Unix socket', () => {
  it('may be cut anywhere, within characters too, and come many at once', async () => {
    const socket = await open();
    const line = Buffer.from(
      `${JSON.stringify({ type: 'req', id: '1', method: 'echo', params: { a: 'é漢👩‍👧' } })}\r\n`,
    );
    for (const byte of line) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect((await socket.until(({ id }) => id === '1')).payload).to.deep.equal({ a: 'é漢👩‍👧' });
    const many = ['2', '3', '4'].map((id) => JSON.stringify({ type: 'req', id, method: 'echo', params: id }));
    socket.write(`\n${many.join('\n\n')}\n`);
    await socket.until(({ id }) => id === '4');
    expect(socket.frames.filter(({ type }) => type === 'res').length).to.equal(4);
  });

  it('are counted before they end', async () => {
    const socket = await open();
    socket.write('x'.repeat(2000));
    expect(await socket.until(({ type }) => type === 'error')).to.include({ code: 'PAYLOAD_TOO_LARGE' });
    await socket.closed;
  });

  it('must be UTF-8', async () => {
    const socket = await open();
    socket.write(Buffer.from([0xff, 0xfe, 10]));
    expect(await socket.until(({ type }) => type === 'error')).to.include({ code: 'INVALID_REQUEST' });
    await socket.closed;
  });

  it('carry the token in the connect frame alone', async () => {
    const socketPath = `${socketDirectory()}/g.sock`;
    const { log } = await startGateway({ app: echo, socketPath });
    const socket = await openUnixSocket(socketPath);
    socket.say({ type: 'connect', protocol: { min: 1, max: 1 } });
    expect(await socket.until(({ type }) => type === 'error')).to.include({ code: 'UNAUTHENTICATED' });
    await socket.closed;
    expect(JSON.stringify(log.lines)).not.to.include(TOKEN);
  });
});
