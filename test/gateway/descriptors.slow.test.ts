import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { mostConnections } from '../../server/runtime/descriptors.js';
import { buildProgram } from '../support/built-program.js';
import { newDatabase } from '../support/durable.js';
import { runCommand } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { becomes } from './readiness-answer.js';

describe('file descriptors', () => {
  it('leave some for all else than connections', () => {
    expect(mostConnections(256)).to.equal(192);
    expect(mostConnections(1024)).to.equal(921);
    expect(mostConnections(1)).to.equal(1);
    expect(mostConnections(Number.POSITIVE_INFINITY)).to.equal(Number.POSITIVE_INFINITY);
  });

  it('that run out cut connections with a line in the log and a reason of readiness', async function () {
    if (process.platform !== 'linux') return this.skip();
    const program = await buildProgram('test/durable/gateway-program.ts');
    const args = ['--nofile=256:256', process.execPath, program, newDatabase()];
    const gateway = runCommand('prlimit', { args });
    const [, url = ''] = await gateway.prints(/listening (\S+)\n/);
    const { hostname, port } = new URL(url);
    await becomes(url, 'ready');
    // The connection of `fetch` stays open for the question at the end.
    const open: Socket[] = [];
    closeLater(open, (all) => {
      for (const socket of all) socket.destroy();
    });
    for (let i = 0; i < 220; i++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      open.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    }
    await gateway.prints(/connections are cut/);
    for (const socket of open.splice(0)) socket.destroy();
    await becomes(url, '503 OVERLOADED descriptors');
    await becomes(url, 'ready');
  });
});
