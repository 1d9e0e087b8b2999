import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { CLI } from '../cli/run-cli.js';
import { tempDir } from '../support/temp-dir.js';

const TURNS = 400;

/** Begins short turns, as many as it is told, in sessions of the built gateway. */
const PROGRAM = `
const { createGateway, defineApp } = await import(process.argv[1]);
const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const app = defineApp({ async *run() { yield 'pong'; } });
const limits = { loopDelayMs: Infinity, sendsPerSecond: Infinity };
const gateway = createGateway({ app, auth: { type: 'none' }, limits, logger: quiet });
for (let n = 0; n < Number(process.argv[2]); n++)
  await gateway.session('s' + (n % 8), { user: { id: 'ann' } }).send('ping').result;
await gateway.close();
`;

/** How many hidden classes V8 made for objects that it could not class with others, in so many turns. */
async function lone(turns: number): Promise<number> {
  const log = join(tempDir(), 'v8.log');
  const main = pathToFileURL(CLI[1]!.replace('cli/main.js', 'index.js')).href;
  const flags = ['--log-maps', '--no-logfile-per-isolate', `--logfile=${log}`, '--input-type=module'];
  const { status, stderr } = spawnSync(process.execPath, [...flags, '-e', PROGRAM, main, String(turns)]);
  expect(status, String(stderr)).to.equal(0);
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(log) }))
    if (line.startsWith('map,Transition,') && line.includes(',prototype,')) count += 1;
  return count;
}

describe('a short turn of the built gateway', function () {
  this.timeout(120_000);

  it('makes no hidden class of its own for any object', async () => {
    const [few, many] = [await lone(40), await lone(40 + TURNS)];
    expect((many - few) / TURNS).to.be.below(0.5);
  });
});
