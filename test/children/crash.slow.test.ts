import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { GatewayEvent } from '../../shared/events.js';
import { AcceptedSends } from '../support/accepted-sends.js';
import { buildProgram } from '../support/built-program.js';
import { get, TOKEN } from '../support/gateway.js';
import { describeKilled, runListening } from '../support/gateway-process.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { openStream } from '../support/sse-client.js';
import { tempDir } from '../support/temp-dir.js';
import { runsIn, type Told } from './faults.js';
import { saidIn } from './programs.js';

const SESSIONS = ['s0', 's1', 's2'];
/** Runs of a whole tree, with the detached one. */
const TREE = 12;

type Note =
  | readonly ['resumed', runId: string]
  | readonly ['effect', runId: string, interrupted: boolean]
  | readonly ['finished', runId: string, came: string];

interface Life {
  readonly notes: readonly Note[];
  readonly logs: readonly (readonly GatewayEvent[])[];
  /** Runs whose messages were acknowledged. */
  readonly accepted: readonly string[];
}

/** Kills gateways of one store in the middle of their trees, one after another, and lets all runs come to their ends. */
async function live(place: string, count: number, random: () => number): Promise<Life> {
  const file = await buildProgram('test/children/crash-program.ts');
  const effects = join(tempDir(), 'effects.ndjson');
  const start = () => runListening(file, place, effects);
  const accepted = new AcceptedSends();
  const gateways = await Promise.all(Array.from({ length: count }, start));
  for (let round = 0; round < KILLS; round++) {
    const at = round % count;
    const { program, url } = gateways[at]!;
    const sending = SESSIONS.map((id) => accepted.send(url, id));
    // In a few rounds it ends before it has accepted anything.
    if (random() < 0.9) await Promise.race(sending);
    await delay(random() * 60 * count);
    await program.kill('SIGKILL');
    await Promise.all(sending);
    gateways[at] = await start();
  }
  const { url } = gateways[0]!;
  const logs = [];
  for (const id of SESSIONS) logs.push(await logOf(url, id));
  for (const { program } of gateways) await program.kill('SIGKILL');
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n') : [];
  return {
    notes: lines.filter(Boolean).map((line) => JSON.parse(line) as Note),
    logs,
    accepted: accepted.runIds,
  };
}

/** All events of a session, once it is idle. */
async function logOf(url: string, id: string): Promise<readonly GatewayEvent[]> {
  for (;;) {
    const { status, body } = await get(`${url}/status?sessionId=${id}`);
    if (status === 404) return [];
    if (body.status === 'idle' && body.queued === 0) {
      const stream = await openStream(`${url}/events?sessionId=${id}&from=earliest&token=${TOKEN}`);
      await stream.until((event) => event.id === body.cursor);
      stream.close();
      const logged = stream.events.filter(({ id: cursor }) => cursor !== undefined && cursor !== '');
      return logged.map(({ event, data }) => ({ type: event, ...data }));
    }
    await delay(20);
  }
}

/** What of the promises was not kept. */
function violations({ notes, logs, accepted }: Life): readonly string[] {
  const found: string[] = [];
  const begun = new Set<string>();
  const came = new Map<string, string>();
  for (const note of notes) {
    const [, runId] = note;
    if (note[0] === 'resumed') continue;
    if (note[0] === 'effect') {
      if (came.has(runId)) found.push(`${runId} did its step again`);
      if (begun.has(runId) && !note[2]) found.push(`${runId} was not told of its step`);
      begun.add(runId);
    } else if ((came.get(runId) ?? note[2]) !== note[2]) found.push(`${runId}: its step came to two things`);
    else came.set(runId, note[2]);
  }
  const ended = new Set<string>();
  for (const { runs, wrong } of logs.map(runsIn)) {
    found.push(...wrong);
    for (const [runId, { name, parent, end }] of runs) {
      ended.add(runId);
      if (end?.stopReason !== 'end') found.push(`${name} of ${runId} ended as ${end?.stopReason}`);
      const expected = JSON.stringify(answerOf(runId, runs, came));
      if (end && saidIn(end.message) !== expected)
        found.push(`${name} of ${runId} says ${saidIn(end.message)} and not ${expected}`);
      if (parent === undefined && treeOf(runId, runs).length !== TREE)
        found.push(`${runId} has a tree of ${treeOf(runId, runs).length}`);
    }
  }
  for (const runId of accepted) if (!ended.has(runId)) found.push(`${runId} is not in the log`);
  return found;
}

type Runs = ReadonlyMap<string, Told>;

const childrenOf = (of: string, runs: Runs): readonly string[] =>
  [...runs].filter(([, { parent }]) => parent === of).map(([runId]) => runId);

const treeOf = (of: string, runs: Runs): readonly string[] => [
  of,
  ...childrenOf(of, runs).flatMap((child) => treeOf(child, runs)),
];

/** The right answer of a run, by what its step and those of its children came to. */
function answerOf(runId: string, runs: Runs, came: ReadonlyMap<string, string>): unknown {
  const below = childrenOf(runId, runs).filter((child) => !runs.get(child)!.detached);
  const byName = below.sort((a, b) => runs.get(a)!.name.localeCompare(runs.get(b)!.name));
  return [came.get(runId), ...byName.map((child) => answerOf(child, runs, came))];
}

async function survives(place: string, count: number): Promise<void> {
  const life = await live(place, count, randomOf(CRASH_SEED));
  expect(violations(life).slice(0, 20)).to.deep.equal([]);
  expect(
    life.notes.filter(([what]) => what === 'resumed'),
    'runs were hit',
  ).to.not.be.empty;
  expect(life.accepted, 'messages were taken').to.not.be.empty;
}

const title = `begins no child twice, does each step once and ends each run once (CRASH_SEED=${CRASH_SEED})`;

describeKilled(`a tree of runs whose gateways are killed ${KILLS} times`, title, survives, 15 * 60_000);
