import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { AcceptedSends } from '../support/accepted-sends.js';
import { buildProgram } from '../support/built-program.js';
import { todays } from '../support/daily.js';
import { newDatabase } from '../support/durable.js';
import { get } from '../support/gateway.js';
import { runListening } from '../support/gateway-process.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { tempDir } from '../support/temp-dir.js';
import type { mutants } from './mutants.js';

const SESSIONS = ['s0', 's1', 's2', 's3'];
const NAMES = ['first', 'left', 'right', 'odd', 'retried', 'last'];

type Note =
  | readonly ['effect', key: string, interrupted: boolean, told: boolean]
  | readonly ['finished', runId: string, name: string, came: string, key: string];

interface Life {
  readonly notes: readonly Note[];
  /** By run: what its answer says. */
  readonly answers: ReadonlyMap<string, string>;
  /** Runs whose messages were acknowledged. */
  readonly accepted: readonly string[];
}

/** Kills a gateway in the middle of its steps, again and again, and lets its runs come to their ends. */
async function live(
  file: string,
  mutant: keyof typeof mutants,
  rounds: number,
  random: () => number,
): Promise<Life> {
  const path = newDatabase();
  const effects = join(tempDir(), 'effects.ndjson');
  const start = () => runListening(file, path, effects, mutant);
  const accepted = new AcceptedSends();
  for (let round = 0; round < rounds; round++) {
    const { program, url } = await start();
    const sending = SESSIONS.flatMap((id) => [accepted.send(url, id), accepted.send(url, id)]);
    await delay(5 + random() * 200);
    await program.kill('SIGKILL');
    await Promise.all(sending);
  }
  const { program, url } = await start();
  const answers = new Map<string, string>();
  for (const id of SESSIONS) {
    const isIdle = async (): Promise<boolean> => {
      const { status, body } = await get(`${url}/status?sessionId=${id}`);
      return status === 404 || (body.status === 'idle' && body.queued === 0);
    };
    while (!(await isIdle())) await delay(20);
    for (let before = ''; ; ) {
      const { body } = await get(`${url}/history?sessionId=${id}&limit=50${before}`);
      for (const { role, runId, stopReason, content = [] } of body.messages ?? []) {
        const text = content.map((block: { text?: string }) => block.text ?? '').join('');
        if (role === 'assistant')
          answers.set(runId, stopReason === 'end' ? text : `ended with ${stopReason}`);
      }
      if (!body.cursor) break;
      before = `&before=${body.cursor}`;
    }
  }
  await program.kill('SIGKILL');
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n') : [];
  return {
    notes: lines.filter(Boolean).map((line) => JSON.parse(line) as Note),
    answers,
    accepted: accepted.runIds,
  };
}

/** What of the promises was not kept. */
function violations({ notes, answers, accepted }: Life): string[] {
  const found: string[] = [];
  /** Keys of finished steps, and what they came to by run and name. */
  const done = new Set<string>();
  const begun = new Set<string>();
  const outcomes = new Map<string, string>();
  for (const note of notes) {
    if (note[0] === 'effect') {
      const [, key, interrupted, told] = note;
      if (done.has(key)) found.push(`done again: ${key}`);
      if (interrupted !== told) found.push(`told by one: ${key}`);
      if (begun.has(key) && !interrupted) found.push(`not told of: ${key}`);
      begun.add(key);
      continue;
    }
    const [, runId, name, came, key] = note;
    const step = `${runId} ${name}`;
    const known = outcomes.get(step);
    if (known !== undefined && known !== came) found.push(`came to ${known}, then to ${came}: ${step}`);
    outcomes.set(step, came);
    if (key) done.add(key);
  }
  for (const runId of accepted) {
    const expected = JSON.stringify(NAMES.map((name) => outcomes.get(`${runId} ${name}`)));
    if (answers.get(runId) !== expected)
      found.push(`answer: ${runId} says ${answers.get(runId)} and not ${expected}`);
  }
  return found;
}

describe('steps of a gateway that is killed at any moment', function () {
  this.timeout(15 * 60_000);

  it(`are done once to their end, through ${KILLS} kills (CRASH_SEED=${CRASH_SEED})`, async () => {
    const life = await live(
      await buildProgram('test/durable/steps-program.ts'),
      'none',
      KILLS,
      randomOf(CRASH_SEED),
    );
    expect(violations(life).slice(0, 20)).to.deep.equal([]);
    const interrupted = life.notes.filter((note) => note[0] === 'effect' && note[2]);
    expect(interrupted, 'steps were hit').to.not.be.empty;
    expect(life.answers.size, 'runs came to their ends').to.be.at.least(life.accepted.length);
  });

  const defects = [
    ['outcomesOff', /^done again/],
    ['beginningsOff', /^not told of/],
  ] as const;
  for (const [mutant, expected] of todays(defects, 2)) {
    it(`are caught when their store has the defect ${mutant}`, async () => {
      const file = await buildProgram('test/durable/steps-program.ts');
      const found: string[] = [];
      for (let attempt = 0; attempt < 25 && !found.some((text) => expected.test(text)); attempt++)
        found.push(...violations(await live(file, mutant, 3, randomOf(CRASH_SEED + attempt))));
      expect(
        found.filter((text) => expected.test(text)),
        found.slice(0, 5).join('\n'),
      ).to.not.be.empty;
    });
  }
});
