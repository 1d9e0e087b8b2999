import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { failure } from '../support/client.js';
import { startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { openUnixSocket } from '../support/raw-socket.js';
import { socketPath } from './doors.js';

const auth = { type: 'token', token: TOKEN } as const;

describe('row 28: the Unix socket', () => {
  it('is for its owner alone, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      const path = join(dirname(socketPath()), 'made', 'gw.sock');
      await startGateway({ app: echo, socketPath: path });
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(statSync(dirname(path)).mode & 0o777).to.equal(0o700);
    } finally {
      process.umask(before);
    }
  });

  for (const mode of [0o777, 0o707, 0o703]) {
    it(`is not made in a directory of mode ${mode.toString(8)}`, async () => {
      const directory = join(dirname(socketPath()), 'open');
      mkdirSync(directory);
      chmodSync(directory, mode);
      const gateway = createGateway({
        app: echo,
        auth,
        embedded: true,
        socketPath: join(directory, 'gw.sock'),
        logger: new TestLogger(),
      });
      expect(await failure(gateway.start())).to.include({ code: 'INVALID_REQUEST' });
      await gateway.close();
    });
  }

  it('asks for a token as every door does', async () => {
    const path = socketPath();
    await startGateway({ app: echo, socketPath: path });
    for (const token of [undefined, '', 'wrong', `${TOKEN}x`]) {
      const socket = await openUnixSocket(path);
      socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, ...(token !== undefined && { token }) });
      expect((await socket.until(({ type }) => type === 'error')).code).to.equal('UNAUTHENTICATED');
      await socket.closed;
    }
    const socket = await openUnixSocket(path);
    await socket.connect();
    expect((await socket.ask('1', 'status')).ok).to.equal(true);
  });
});
