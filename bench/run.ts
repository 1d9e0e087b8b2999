import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
// @ts-expect-error It has no types.
import { install } from '../scripts/installed.mjs';
import { type Contender, KEYS, type Key } from './keys.js';
import type { Sample, Settings } from './measure/sample.js';
import { type Minute, soak } from './measure/soak.js';
import { parsePeer } from './peers/index.js';
import { asMarkdown, asText, MARKDOWN_HEAD, type Row, type Summary, summarize } from './report.js';
import { buildAll } from './rig/build.js';

interface Options {
  readonly rounds: number;
  readonly ms: number;
  readonly peers?: readonly string[];
  readonly against?: string;
  readonly profiles?: string;
  readonly markdown?: boolean;
  readonly json?: string;
  readonly soak?: number;
}

const list = (text: string): string[] => text.split(',');

const program = new Command('npm run bench --')
  .description(
    'Compares the gateway with its peers. The CPU ratio is what to trust on a machine that is not quiet.',
  )
  .argument(
    '[keys...]',
    `what to measure: names, parts of names with a star, or main, open, quiet, growth, steady, observed, cluster`,
    ['main'],
  )
  .option('--rounds <count>', 'rounds, of which every second one goes through the peers backwards', Number, 3)
  .option('--ms <time>', "time of the server's processor that is used in one round", Number, 400)
  .option('--peers <names>', 'only these rows', list)
  .option(
    '--against <folder>',
    'also the gateway of another checkout, which has been built: the rows "other"',
  )
  .option('--profiles <folder>', 'writes CPU profiles of the servers there')
  .option('--markdown', 'prints the table of bench/README.md at the end')
  .option('--json <file>', 'writes all samples there')
  .option(
    '--soak <seconds>',
    'keeps the gateway at 80% of a core for so long instead, and reports each minute',
    Number,
  )
  .addHelpText(
    'after',
    `\nKeys:\n${Object.entries(KEYS)
      .map(([name, { title }]) => `  ${name.padEnd(18)} ${title}`)
      .join('\n')}`,
  );
program.parse();
const options = program.opts<Options>();
const settings: Settings = {
  ms: options.ms,
  ...(options.against && { against: resolve(options.against, 'dist') }),
  ...(options.profiles && { profiles: resolve(options.profiles) }),
};

/** The keys that are asked for, in the order of the table. */
function wantedKeys(): string[] {
  const wanted = program.args.length > 0 ? program.args.flatMap(list) : ['main'];
  const matches = (name: string, pattern: string) =>
    pattern === name ||
    pattern === KEYS[name]!.group ||
    (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
  for (const pattern of wanted)
    if (!Object.keys(KEYS).some((name) => matches(name, pattern)))
      program.error(`No key is called ${pattern}`);
  return Object.keys(KEYS).filter(
    (name) => wanted.some((pattern) => matches(name, pattern)) && contendersOf(KEYS[name]!).length > 0,
  );
}

function contendersOf({ contenders }: Key): Contender[] {
  const all = contenders.flatMap((contender) => {
    const { peer, variant } = parsePeer(contender.peer);
    if (peer !== 'gateway' || !options.against) return [contender];
    const name = variant ? `other:${variant}` : 'other';
    const label = contender.label.includes('gateway') ? name : `${contender.label} (other)`;
    return [contender, { ...contender, label, peer: name }];
  });
  return all.filter(({ label }) => !options.peers || options.peers.includes(label));
}

/** Every round visits every contender once, so that whatever else the machine does meets all of them. */
async function measure(name: string, key: Key): Promise<Row[]> {
  const rows = contendersOf(key).map((contender) => ({
    contender,
    samples: [] as (Sample | undefined)[],
    failure: undefined as string | undefined,
  }));
  for (let round = 0; round < Math.min(options.rounds, key.rounds ?? options.rounds); round++) {
    for (const row of round % 2 === 1 ? rows.toReversed() : rows) {
      const { label, peer } = row.contender;
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${name}, round ${round + 1}: ${label}`);
      try {
        row.samples[round] = await row.contender.measure(peer, settings);
      } catch (error) {
        row.samples[round] = undefined;
        row.failure = String(error);
      }
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return rows.map(({ contender: { label }, samples, failure }) => ({
    label,
    samples,
    ...(failure && { failure }),
  }));
}

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}, Node ${process.version}`;

async function compare(names: readonly string[]): Promise<void> {
  const rowsOf: Record<string, Row[]> = {};
  const summariesOf: Record<string, Summary[]> = {};
  install('bench');
  console.log(
    `${machine}; ${options.rounds} rounds of ${options.ms} ms. Ratios are to the first row, in the same round, as medians.`,
  );
  for (const name of names) {
    rowsOf[name] = await measure(name, KEYS[name]!);
    summariesOf[name] = summarize(rowsOf[name]);
    console.log(asText(name, KEYS[name]!, summariesOf[name]));
  }
  if (options.json)
    writeFileSync(
      options.json,
      JSON.stringify({ machine, rows: rowsOf, summaries: summariesOf }, undefined, 2),
    );
  if (options.markdown)
    console.log(
      ['', MARKDOWN_HEAD, ...names.map((name) => asMarkdown(name, KEYS[name]!, summariesOf[name]!))].join(
        '\n',
      ),
    );
  const isValid = Object.values(summariesOf)
    .flat()
    .every(({ lost, failure }) => lost === 0 && !failure);
  if (!isValid) process.exitCode = 1;
}

async function soakFor(seconds: number): Promise<void> {
  console.log(`${machine}; ${seconds} s`);
  console.log(
    'minute    CPU  sends  first event p99  event p50      p99      RSS     live  late  refused  closed',
  );
  const minutes: Minute[] = [];
  const { sendsPerSecond, lost } = await soak(seconds, settings, (minute, n) => {
    minutes.push(minute);
    const { cpu, sends, firstP99Ms, eventP50Ms, eventP99Ms, rssMiB, liveMiB, late, refused, closed } = minute;
    console.log(
      `${String(n).padStart(6)}  ${`${(cpu * 100).toFixed(0)}%`.padStart(5)}  ${String(sends).padStart(5)}  ` +
        `${firstP99Ms.toFixed(1).padStart(12)} ms  ${eventP50Ms.toFixed(2).padStart(6)} ms  ${eventP99Ms.toFixed(1).padStart(6)}  ` +
        `${rssMiB.toFixed(0).padStart(4)} MiB  ${liveMiB.toFixed(0).padStart(5)}  ${String(late).padStart(5)}  ${String(refused).padStart(7)}  ${String(closed).padStart(6)}`,
    );
  });
  console.log(`${sendsPerSecond} sends a second, of 100 events each; ${lost} events lost`);
  // Before that code is compiled and sessions are filled.
  const [from, to] = [minutes[2], minutes.at(-1)];
  if (from && to && from !== to)
    console.log(
      `The last minute beside the third: event p99 × ${(to.eventP99Ms / from.eventP99Ms).toFixed(2)}, RSS × ${(to.rssMiB / from.rssMiB).toFixed(2)}, live heap × ${(to.liveMiB / from.liveMiB).toFixed(2)}`,
    );
  if (lost !== 0 || minutes.some(({ refused, closed }) => refused + closed > 0)) process.exitCode = 1;
}

const names = wantedKeys();
await buildAll();
if (options.soak) await soakFor(options.soak);
else await compare(names);
process.exit();
