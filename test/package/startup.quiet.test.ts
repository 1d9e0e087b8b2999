import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { NAME } from './entries.js';
import { type Installed, installPackage } from './installed.js';

const run = promisify(execFile);

/** How often each is started, in turns, so that all of them meet what else this machine does. */
const ROUNDS = 15;

/** What it takes Node to start alone, beside which 150 ms for the command line were measured. */
const PLAIN_MS = 45;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

// CPU and not time: it is the same when others are at work.
const TELL = "const { user, system } = process.cpuUsage(); console.error('CPU', user + system);";

describe('what it takes to start', () => {
  let installed: Installed;

  before(async () => {
    installed = await installPackage();
    await installed.install('express');
  });
  after(() => installed?.remove());

  /** Milliseconds of CPU of each of these, with that of Node itself. */
  async function cost(starts: Readonly<Record<string, readonly string[]>>): Promise<Record<string, number>> {
    const seen = Object.keys(starts).map((name) => [name, [] as number[]] as const);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, all] of seen) {
        const { stderr } = await run(process.execPath, [...starts[name]!], { cwd: installed.project });
        all.push(Number(/CPU (\d+)\n$/.exec(stderr)![1]) / 1000);
      }
    }
    return Object.fromEntries(seen.map(([name, all]) => [name, median(all)]));
  }

  const importing = (name: string): readonly string[] => [
    '--input-type=module',
    '-e',
    `await import('${name}'); ${TELL}`,
  ];

  it('is at most 1.5 times what Express takes for a gateway, and half of it for a client', async () => {
    const { express, gateway, client } = await cost({
      express: importing('express'),
      gateway: importing(NAME),
      client: importing(`${NAME}/client`),
    });
    expect(gateway! / express!, `${gateway} ms beside ${express} ms`).to.be.at.most(1.5);
    expect(client! / express!, `${client} ms beside ${express} ms`).to.be.at.most(0.55);
  });

  it('is little more than Node itself for what the command line offers', async () => {
    const told = `process.on('exit', () => { ${TELL} });`;
    installed.write('told.mjs', told);
    const main = `node_modules/${NAME}/dist/server/cli/main.js`;
    const { node, help } = await cost({
      node: ['--import', './told.mjs', '-e', '0'],
      help: ['--import', './told.mjs', main, '--help'],
    });
    const allowed = 1.5 * node! + (150 / PLAIN_MS) * node!;
    expect(help!, `${help} ms beside ${node} ms`).to.be.at.most(allowed);
  });
});
