import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createGateway } from '../../../server/index.js';
import { echo } from '../../support/apps.js';
import { startGateway, TestLogger } from '../../support/gateway.js';
import { openUnixSocket } from '../../support/raw-socket.js';
import { closeLater } from '../../support/resources.js';
import { socketDirectory } from '../../support/socket-directory.js';

async function refusal(socketPath: string): Promise<any> {
  const gateway = createGateway({ app: echo, embedded: true, socketPath, logger: new TestLogger() });
  try {
    await gateway.start();
  } catch (error) {
    return error;
  } finally {
    await gateway.close();
  }
  throw new Error('it started');
}

/** A program that died: its socket is left behind, and nobody listens. */
async function leaveStale(path: string): Promise<void> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.bound`, resolve));
  // Node removes what it has bound; by then it has another name.
  renameSync(`${path}.bound`, path);
  await new Promise((resolve) => server.close(resolve));
}

describe('the file of the Unix socket', () => {
  it('is told by start, for its owner alone, and gone after close', async () => {
    const directory = socketDirectory();
    const socketPath = join(directory, 'deep', 'gateway.sock');
    const log = new TestLogger();
    const gateway = createGateway({
      app: echo,
      embedded: true,
      auth: { type: 'none' },
      socketPath,
      logger: log,
    });
    closeLater(gateway, (it) => it.close());
    expect(await gateway.start()).to.deep.equal({ socketPath });
    expect(lstatSync(socketPath).mode & 0o777).to.equal(0o600);
    expect(lstatSync(join(directory, 'deep')).mode & 0o777).to.equal(0o700);
    expect(readdirSync(join(directory, 'deep'))).to.deep.equal(['gateway.sock']);
    expect(log.lines).to.deep.equal([]);
    await gateway.close();
    expect(readdirSync(join(directory, 'deep'))).to.deep.equal([]);
  });

  it('is served beside HTTP', async () => {
    const socketPath = join(socketDirectory(), 'g.sock');
    const { url } = await startGateway({ app: echo, socketPath });
    const socket = await openUnixSocket(socketPath);
    expect((await socket.connect()).sessions).to.deep.equal({});
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
  });

  it('is not made where others can come', async () => {
    for (const mode of [0o755, 0o770, 0o777]) {
      const directory = join(socketDirectory(), 'open');
      mkdirSync(directory);
      chmodSync(directory, mode);
      const error = await refusal(join(directory, 'g.sock'));
      expect(error).to.include({ code: 'INVALID_REQUEST' });
      expect(error.message).to.include('socketPath').and.to.include('700');
      expect(readdirSync(directory)).to.deep.equal([]);
    }
  });

  it('is made in a sticky directory, with a warning', async () => {
    const directory = join(socketDirectory(), 'tmp');
    mkdirSync(directory);
    chmodSync(directory, 0o1777);
    const { log } = await startGateway({ app: echo, socketPath: join(directory, 'g.sock') });
    expect(log.lines.map(({ level, message }) => `${level} ${message}`).join()).to.match(
      /warn socketPath: .*700/,
    );
  });

  it('has a path of bounded length', async () => {
    const error = await refusal(join(socketDirectory(), 'x'.repeat(100)));
    expect(error).to.include({ code: 'INVALID_REQUEST' });
  });

  it('replaces the socket of a gateway that died', async () => {
    const socketPath = join(socketDirectory(), 'g.sock');
    await leaveStale(socketPath);
    await startGateway({ app: echo, socketPath });
    await (await openUnixSocket(socketPath)).connect();
  });

  it('leaves a live gateway alone', async () => {
    const socketPath = join(socketDirectory(), 'g.sock');
    await startGateway({ app: echo, socketPath });
    const error = await refusal(socketPath);
    expect(error).to.include({ code: 'ADDRESS_IN_USE' });
    expect(error.message).to.include(socketPath);
    await (await openUnixSocket(socketPath)).connect();
  });

  it('leaves a regular file, a directory and a link alone', async () => {
    const directory = socketDirectory();
    const file = join(directory, 'file');
    writeFileSync(file, 'precious');
    symlinkSync(file, join(directory, 'link'));
    mkdirSync(join(directory, 'sub'));
    for (const name of ['file', 'link', 'sub']) {
      expect(await refusal(join(directory, name))).to.include({ code: 'ADDRESS_IN_USE' });
    }
    expect(readFileSync(file, 'utf8')).to.equal('precious');
    expect(readdirSync(directory).sort()).to.deep.equal(['file', 'link', 'sub']);
  });

  it('is left alone at close when it is another gateway that has the name by now', async () => {
    const socketPath = join(socketDirectory(), 'g.sock');
    const first = await startGateway({ app: echo, socketPath });
    renameSync(socketPath, `${socketPath}.away`);
    await startGateway({ app: echo, socketPath });
    await first.gateway.close();
    expect(existsSync(socketPath)).to.equal(true);
    await (await openUnixSocket(socketPath)).connect();
  });

  it('makes a start that fails leave nothing behind', async () => {
    const { url } = await startGateway({ app: echo });
    const directory = socketDirectory();
    const gateway = createGateway({
      app: echo,
      port: Number(new URL(url).port),
      socketPath: join(directory, 'g.sock'),
      logger: new TestLogger(),
    });
    let code = '';
    await gateway.start().catch((error) => {
      code = error.code;
    });
    expect(code).to.equal('ADDRESS_IN_USE');
    expect(readdirSync(directory)).to.deep.equal([]);
    await gateway.close();
  });

  it('is taken by one of many that start at once', async () => {
    const socketPath = join(socketDirectory(), 'g.sock');
    await leaveStale(socketPath);
    const gateways = Array.from({ length: 8 }, () =>
      createGateway({ app: echo, embedded: true, socketPath, logger: new TestLogger() }),
    );
    const started = await Promise.allSettled(gateways.map((gateway) => gateway.start()));
    expect(started.filter(({ status }) => status === 'fulfilled').length).to.equal(1);
    await Promise.all(gateways.map((gateway, n) => started[n]!.status === 'rejected' && gateway.close()));
    await (await openUnixSocket(socketPath)).connect({ token: undefined });
    await Promise.all(gateways.map((gateway) => gateway.close()));
    expect(existsSync(socketPath)).to.equal(false);
  });
});
