import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { buildProgram } from '../support/built-program.js';
import { newDatabase } from '../support/durable.js';
import { erasuresIn } from '../support/erasures.js';
import { get, post } from '../support/gateway.js';
import { runListening } from '../support/gateway-process.js';
import { CRASH_SEED, KILLS } from '../support/kills.js';
import { randomOf } from '../support/random.js';
import { filesWith } from '../support/raw-bytes.js';
import { as } from '../support/users.js';

const SESSIONS = 8;

/** What is left of a user whose erasure was under way when the gateway was killed. */
interface Left {
  readonly answered: boolean;
  /** Files that have the user's text, after the next start. */
  readonly files: readonly string[];
  /** Sessions and files of the user, after the next start. */
  readonly sessions: number;
  /** What of it was there when the gateway was killed. */
  readonly before: number;
}

/** Kills a gateway while it erases a user, and looks at what its next start leaves. */
async function leftAfter(file: string, how: string, rounds: number, seed: number): Promise<readonly Left[]> {
  const random = randomOf(seed);
  const path = newDatabase();
  const folder = dirname(path);
  const start = () => runListening(file, path, how);
  const all: Left[] = [];
  let { program, url } = await start();
  await post(`${url}/send`, { sessionId: 'main', message: 'stays' }, as('other'));
  for (let round = 0; round < rounds; round++) {
    const planted = `planted-${round}-text`;
    const user = `user-${planted}`;
    for (let n = 0; n < SESSIONS; n++) {
      const upload = await fetch(`${url}/files?name=${planted}.txt`, {
        method: 'POST',
        headers: { ...as(user), 'content-type': 'application/octet-stream' },
        body: `${planted} ${n}`,
      });
      const { fileId } = (await upload.json()) as { fileId: string };
      const message = [
        { type: 'text', text: planted },
        { type: 'file', mediaType: 'text/plain', fileId },
      ];
      await post(`${url}/send`, { sessionId: `s${n}`, message }, as(user));
    }
    const answer = post(`${url}/invoke`, { method: 'erase', params: { id: user } }, as('operator')).then(
      ({ status }) => status === 200,
      () => false,
    );
    // From before its first step to after its last.
    await Promise.race([answer, delay(random() ** 2 * 400)]);
    await program.kill('SIGKILL');
    const answered = await answer;
    const before = filesWith(folder, planted).length;
    ({ program, url } = await start());
    const { body } = await get(`${url}/sessions?limit=1000`, as(user));
    const other = await get(`${url}/history?sessionId=main`, as('other'));
    expect(other.body.messages, "what is another user's").to.have.length(2);
    all.push({ answered, files: filesWith(folder, planted), sessions: body.sessions.length, before });
  }
  await program.kill('SIGKILL');
  const store = sqliteStore({ path });
  await store.open();
  expect(await erasuresIn(store)).to.deep.equal([]);
  await store.close();
  return all;
}

const isUntouched = ({ sessions }: Left): boolean => sessions === SESSIONS;
const isGone = ({ sessions, files }: Left): boolean => sessions === 0 && files.length === 0;

describe('a gateway that is killed while it erases a user', function () {
  this.timeout(15 * 60_000);

  it(`goes on with it at its next start, in ${KILLS} rounds (CRASH_SEED=${CRASH_SEED})`, async () => {
    const file = await buildProgram('test/durable/erase-program.ts');
    // How many are under way when they are killed is up to the disk.
    for (let attempt = 0; attempt < 5; attempt++) {
      const left = await leftAfter(file, 'none', KILLS, CRASH_SEED + attempt);
      expect(left.filter((one) => !isGone(one) && !isUntouched(one))).to.deep.equal([]);
      expect(left.filter((one) => one.answered && !isGone(one))).to.deep.equal([]);
      if (left.some((one) => isGone(one) && !one.answered && one.before > 0)) return;
    }
    throw new Error('none was under way');
  });

  it('is caught where it forgets what it has begun', async () => {
    const file = await buildProgram('test/durable/erase-program.ts');
    for (let attempt = 0; attempt < 10; attempt++) {
      const left = await leftAfter(file, 'forgetful', 4, CRASH_SEED + attempt);
      if (!left.every((one) => isGone(one) || isUntouched(one))) return;
    }
    throw new Error('nothing was seen of it');
  });
});
