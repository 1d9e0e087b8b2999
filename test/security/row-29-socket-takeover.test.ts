import { existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { failure } from '../support/client.js';
import { startGateway, TestLogger, TOKEN } from '../support/gateway.js';
import { openUnixSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketPath } from './doors.js';

const gatewayAt = (path: string) =>
  closeLater(
    createGateway({
      app: echo,
      auth: { type: 'token', token: TOKEN },
      embedded: true,
      socketPath: path,
      logger: new TestLogger(),
    }),
    (it) => it.close(),
  );

describe('row 29: taking a socket over', () => {
  it('fails while it is alive, and the first goes on serving', async () => {
    const path = socketPath();
    await startGateway({ app: echo, socketPath: path });
    expect(await failure(gatewayAt(path).start())).to.include({ code: 'ADDRESS_IN_USE' });
    await (await openUnixSocket(path)).connect();
  });

  it('leaves files and links that are no sockets of ours as they are', async () => {
    const file = socketPath();
    writeFileSync(file, 'precious');
    expect(await failure(gatewayAt(file).start())).to.include({ code: 'ADDRESS_IN_USE' });
    const link = socketPath();
    symlinkSync(file, link);
    expect(await failure(gatewayAt(link).start())).to.include({ code: 'ADDRESS_IN_USE' });
    expect(readFileSync(file, 'utf8')).to.equal('precious');
  });

  it('does not remove the socket that another has put there meanwhile', async () => {
    const path = socketPath();
    const first = gatewayAt(path);
    await first.start();
    const other = socketPath();
    const server = closeLater(createServer(), (it) => it.close());
    await new Promise<void>((resolve) => server.listen(other, resolve));
    renameSync(other, path);
    await first.close();
    expect(existsSync(path)).to.equal(true);
  });

  it('removes its own', async () => {
    const path = socketPath();
    const gateway = gatewayAt(path);
    await gateway.start();
    await gateway.close();
    expect(existsSync(path)).to.equal(false);
  });
});
