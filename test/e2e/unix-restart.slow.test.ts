import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { createUnixSocketClientTransport } from '../../client/node/index.js';
import { textOf } from '../../shared/messages.js';
import { buildProgram } from '../support/built-program.js';
import { type Program, runCommand } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';

async function run(path: string): Promise<Program> {
  const program = await buildProgram('test/support/unix-gateway.ts');
  return runCommand(process.execPath, { args: [program, path] });
}

async function start(path: string): Promise<Program> {
  const program = await run(path);
  await program.prints(/^listening/m);
  return program;
}

describe('a gateway on a Unix socket that is killed', () => {
  it('is followed by another one, whose clients come back by themselves', async () => {
    const path = join(socketDirectory(), 'g.sock');
    const first = await start(path);
    const transport = createUnixSocketClientTransport({ socketPath: path });
    const client = closeLater(createClient({ transport }), (it) => it.disconnect());
    const events = client.events('main', { from: 'earliest' });
    expect(textOf((await client.send('main', 'one').result).message)).to.equal(
      `${first.child.pid} heard one`,
    );
    let next = await events.next();
    while (next.value.type !== 'message_end') next = await events.next();

    expect(await first.kill('SIGKILL')).to.equal('SIGKILL');
    expect(lstatSync(path).isSocket(), 'the socket is left behind').to.equal(true);
    const second = await start(path);
    expect((await events.next()).value).to.include({ type: 'gap', reason: 'epoch' });
    expect(textOf((await client.send('main', 'two').result).message)).to.equal(
      `${second.child.pid} heard two`,
    );

    const third = await run(path);
    await third.prints(/^refused: ADDRESS_IN_USE/m);
    expect(await third.exited).to.equal(1);
    expect(textOf((await client.send('main', 'three').result).message)).to.include('heard three');
    client.disconnect();
    expect(await second.kill('SIGTERM')).to.equal(0);
    expect(existsSync(path)).to.equal(false);
  });

  it('never takes the place of a file', async () => {
    const path = join(socketDirectory(), 'file');
    writeFileSync(path, 'precious');
    const program = await run(path);
    await program.prints(/^refused: ADDRESS_IN_USE/m);
    expect(readFileSync(path, 'utf8')).to.equal('precious');
  });
});
