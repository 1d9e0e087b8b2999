import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, runProgram } from '../support/program.js';
import { tempDir } from '../support/temp-dir.js';

/** Times as much CPU as sockets alone need, for 1,000 sessions with one viewer each. It was 2.7, on a busy machine. */
const MOST_CPU = 8;

const run = (...args: string[]) => runProgram('bench/run.ts', { args });
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

describe('the benchmark', () => {
  it('compares the gateway with a peer, loses nothing, and finds it within reach of sockets alone', async () => {
    const file = join(tempDir(), 'samples.json');
    const program = run(
      'sessions-sse',
      ...['--peers', 'raw:socket,gateway', '--rounds', '2', '--ms', '150', '--json', file, '--markdown'],
    );
    expect(await program.exited, program.output).to.equal(0);
    const [base, gateway] = JSON.parse(readFileSync(file, 'utf8')).summaries['sessions-sse'];
    expect(base).to.include({ label: 'raw:socket', lost: 0, ratio: 1, cpuRatio: 1 });
    expect(gateway).to.include({ label: 'gateway', lost: 0 });
    expect(
      gateway.cpuRatio,
      `CPU for each event, in times of what node:http needs for it; look at a profile (--profiles):\n${program.output}`,
    ).to.be.within(0.2, MOST_CPU);
    expect(program.output).to.match(/^gateway .* bytes/m);
    expect(program.output).to.match(/^\| `sessions-sse`: .* \| raw:socket \| .* \| 1\.00 \|/m);
    // It compiles the package, and starts eight processes.
  }).timeout(600_000);

  it('says which keys there are', async () => {
    const program = run('sesions-sse');
    expect(await program.exited).to.equal(1);
    expect(program.output).to.contain('No key is called sesions-sse');
  });

  it('has what it shares with the package in the same version', () => {
    const { packages } = read('package-lock.json');
    for (const [name, version] of Object.entries(read('bench/package.json').dependencies)) {
      const shared = packages[`node_modules/${name}`];
      if (shared) expect(version, name).to.equal(shared.version);
      expect(read('bench/package-lock.json').packages[`node_modules/${name}`].version).to.equal(version);
    }
  });
});
