import { expect } from 'chai';
import { defineApp, memoryStore, type Turn, tool } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { gate } from '../support/gate.js';
import { TestLogger } from '../support/gateway.js';
import { passing } from '../support/overriding.js';

/** All that an app may do in a turn. */
const DEEDS: Record<string, (turn: Turn<any, any, any>) => unknown> = {
  'call a tool': (turn) => turn.callTool('act', {}),
  "call a client's tool": (turn) => turn.callTool('page', {}),
  ask: (turn) => turn.ask({ name: 'sure' }),
  confirm: (turn) => turn.confirm({ name: 'pay', input: 1, expiresInMs: 60_000, onExpiry: 'deny' }),
  'take a step': (turn) => turn.step('act', () => turn.callTool('act', {})),
  'begin a child': (turn) => turn.spawn('main', { message: 'child' }).result,
  'write data': (turn) => turn.data('d', 1),
  'give a title': (turn) => turn.title('another'),
  annotate: (turn) => turn.annotate({ late: true }),
  'count tokens': (turn) => turn.usage({ inputTokens: 1 }),
  'hand off': (turn) => turn.handOff({ reason: 'late' }),
  'take what steers it': (turn) => turn.steered(),
};

describe('a run that has ended', () => {
  for (const [what, does] of Object.entries(DEEDS))
    it(`does not ${what} any more`, async () => {
      const begun = gate<Turn<any, any, any>>();
      let acts = 0;
      const act = tool({ handler: () => void acts++ });
      const app = defineApp({
        resumable: true,
        tools: { act, page: tool({ runsOn: 'client' }) },
        async *run(turn) {
          if (turn.text === 'child') acts += 1;
          begun.open(turn);
          yield 'said';
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
          yield 'late';
        },
      });
      const asked: string[] = [];
      const store = passing(memoryStore(), (name, call) => {
        asked.push(name);
        return call();
      });
      const log = new TestLogger();
      const gateway = embedGateway({ app, store, logger: log });
      const session = gateway.session('main', { anonymous: true });
      const run = session.send('go');
      const turn = await begun.passed;
      await session.abort();
      const before = { result: await run.result, history: await session.history() };
      asked.length = 0;
      let outcome = 'pending';
      const done = Promise.resolve()
        .then(() => does(turn))
        .then(
          () => 'done',
          ({ name }) => name as string,
        )
        .then((came) => {
          outcome = came;
        });
      for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
      // A question of an ended run is never answered.
      if (outcome !== 'pending') await done;
      expect(['pending', 'done', 'AbortError']).to.include(outcome);
      expect([acts, asked.filter((name) => name === 'append')]).to.deep.equal([0, []]);
      expect(await session.history()).to.deep.equal(before.history);
      expect(log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
});
