import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { newDatabase } from '../support/durable.js';
import { get } from '../support/gateway.js';
import { runCommand } from '../support/program.js';
import { becomes, readiness } from './readiness-answer.js';

describe('readiness', () => {
  it('is 503 while the database cannot be written, though nobody sends anything, and 200 once there is room', async function () {
    if (process.platform !== 'linux') return this.skip();
    const program = await buildProgram('test/durable/gateway-program.ts');
    const gateway = runCommand(process.execPath, { args: [program, newDatabase()] });
    const [, url = ''] = await gateway.prints(/listening (\S+)\n/);
    const limit = (size: string): void => {
      const args = ['--pid', String(gateway.child.pid), `--fsize=${size}:unlimited`];
      expect(spawnSync('prlimit', args).status).to.equal(0);
    };
    expect(await readiness(url)).to.equal('ready');
    limit('1');
    await becomes(url, '503 OVERLOADED store-unwritable');
    expect((await get(`${url}/healthz`)).status).to.equal(200);
    limit('unlimited');
    await becomes(url, 'ready');
  });
});
