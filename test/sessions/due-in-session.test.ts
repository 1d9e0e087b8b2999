import { expect } from 'chai';
import { DEFAULT_LIMITS } from '../../server/config/limits.js';
import { DueWorker } from '../../server/due/due-worker.js';
import type { SessionDirectory } from '../../server/sessions/directory.js';
import { workInSessions } from '../../server/sessions/due-in-session.js';
import { type ErrorCode, GatewayError } from '../../shared/errors.js';
import { TestClock } from '../schedules/test-clock.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const home = { scope: 'ann' };
const MINUTE = 60_000;
const trigger = { type: 'child', runId: 'r', id: 'c', app: 'default', stopReason: 'end_turn' };
const VALUE = JSON.stringify({ epoch: 'e', trigger, user: null });

/** A due record of a child's end in a session that answers with this error. */
async function begin(code: ErrorCode) {
  const clock = new TestClock();
  const { store } = clock;
  const ref = { ...home, app: 'default', name: 'main' };
  await store.acquire(ref, { holder: 'me', create: { epoch: 'e' } });
  const worker = new DueWorker({ store, report: () => {}, format: ({ name }) => name });
  let tried = 0;
  const perform = (): never => {
    tried += 1;
    throw new GatewayError({ code });
  };
  workInSessions(
    worker,
    {
      sessions: { serves: () => true, perform } as unknown as SessionDirectory,
      limits: DEFAULT_LIMITS,
      actorOf: async () => null,
    },
    [],
  );
  closeLater(worker, (it) => it.stop(0));
  worker.start();
  const change = { kind: 'child-end', id: 'one', value: VALUE, dueAt: Date.now() - 1000 };
  expect(await store.changeRecords(ref, [change])).to.equal(true);
  const find = async () => (await store.records({ home: ref, kind: 'child-end', id: 'one', limit: 1 }))[0];
  return { clock, worker, find, tried: () => tried };
}

describe('due work in a session', () => {
  for (const code of ['TAKEN_OVER', 'QUEUE_FULL', 'SESSION_BUSY'] as const)
    it(`waits for its turn, which is no attempt: ${code}`, async () => {
      const { clock, worker, find, tried } = await begin(code);
      for (let times = 1; times <= 5; times++) {
        await until(() => tried() === times);
        clock.forward(MINUTE);
      }
      await until(() => tried() === 6);
      expect((await find())!.value).to.equal(VALUE);
      expect(worker.outcomes).to.deep.equal([]);
    });

  it('is dropped where the session is closed', async () => {
    const { worker, find } = await begin('SESSION_NOT_FOUND');
    await until(async () => (await find()) === undefined);
    expect(worker.outcomes).to.deep.equal([{ kind: 'child-end', outcome: 'dropped', count: 1 }]);
  });

  it('is tried again where the session cannot be used', async () => {
    const { worker, find } = await begin('OVERLOADED');
    await until(() => worker.outcomes.length === 1);
    expect(JSON.parse((await find())!.value)).to.containSubset({ attempts: 1 });
  });
});
