import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { newDatabase } from '../support/durable.js';
import { get, jsonHeaders, post } from '../support/gateway.js';
import { runListening } from '../support/gateway-process.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import type { mutants } from './mutants.js';

const SESSIONS = 6;
const respondAsync = { prefer: 'respond-async' };

/** A session that was about to be deleted, and what is there of it after a kill. */
interface Fate {
  readonly answered: boolean;
  /** Its parts: the runs of its closed and of its present conversation, the former's events, and the present one's messages. */
  readonly kept: readonly boolean[];
}

/** Kills a gateway while it deletes sessions, and looks at what is left of them. */
async function fatesOf(
  file: string,
  mutant: keyof typeof mutants,
  rounds: number,
  seed: number,
): Promise<Fate[]> {
  const random = randomOf(seed);
  const path = newDatabase();
  const start = () => runListening(file, path, '0', mutant);
  const fates: Fate[] = [];
  let { program, url } = await start();
  for (let round = 0; round < rounds; round++) {
    const begun = [];
    for (let n = 0; n < SESSIONS; n++) {
      const sessionId = `s${round}-${n}`;
      const first = await post(`${url}/send`, { sessionId, message: '5' });
      await post(`${url}/close`, { sessionId });
      const second = await post(`${url}/send`, { sessionId, message: '100000 10' }, respondAsync);
      begun.push({ sessionId, cursor: first.body.cursor, runs: [first.body.runId, second.body.runId] });
    }
    const answers = begun.map(({ sessionId }) =>
      post(`${url}/delete`, { sessionId }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    // Some before the first is deleted, most just when some are.
    const first = Promise.race(answers);
    await (random() < 0.3 ? Promise.race([first, delay(random() * 300)]) : first);
    await delay(random() * 3);
    await program.kill('SIGKILL');
    const answered = await Promise.all(answers);
    ({ program, url } = await start());
    for (const [n, { sessionId, cursor, runs }] of begun.entries()) {
      const known = (query: string) => get(`${url}/${query}`).then(({ status }) => status === 200);
      const past = await fetch(`${url}/events?sessionId=${sessionId}&lastEventId=${cursor}`, {
        headers: jsonHeaders(),
      });
      const head = await firstOf(past);
      fates.push({
        answered: answered[n]!,
        kept: [
          await known(`run?sessionId=${sessionId}&runId=${runs[0]}`),
          await known(`run?sessionId=${sessionId}&runId=${runs[1]}`),
          /"resume":"exact"/.test(head),
          await known(`history?sessionId=${sessionId}`),
        ],
      });
      // What was not deleted is, so that it takes no time from the next round.
      await post(`${url}/delete`, { sessionId });
    }
  }
  await program.kill('SIGKILL');
  return fates;
}

/** The `connected` event of a stream, as text. */
async function firstOf(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\n\n')) break;
  }
  return text;
}

const isWhole = ({ kept }: Fate): boolean => kept.every((part) => part) || kept.every((part) => !part);

describe('a gateway that is killed while it deletes sessions', function () {
  this.timeout(15 * 60_000);

  it(`has deleted all of each or nothing, in ${KILLS} rounds (CRASH_SEED=${CRASH_SEED})`, async () => {
    const fates = await fatesOf(
      await buildProgram('test/durable/gateway-program.ts'),
      'none',
      KILLS,
      CRASH_SEED,
    );
    expect(fates.filter((fate) => !isWhole(fate))).to.deep.equal([]);
    expect(fates.filter(({ answered, kept }) => answered && kept.some((part) => part))).to.deep.equal([]);
    expect(
      fates.some(({ kept }) => kept[0]),
      'some came too late',
    ).to.equal(true);
    expect(
      fates.some(({ kept }) => !kept[0]),
      'some were deleted',
    ).to.equal(true);
  });

  it('is caught where it takes two steps', async () => {
    const file = await buildProgram('test/durable/gateway-program.ts');
    for (let attempt = 0; attempt < 25; attempt++) {
      const fates = await fatesOf(file, 'deleteInTwo', 2, CRASH_SEED + attempt);
      if (!fates.every(isWhole)) return;
    }
    throw new Error('nothing was seen of it');
  });
});
