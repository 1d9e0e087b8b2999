import { expect } from 'chai';
import { defineApp, type HostRun, type SessionHandle } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';
import { type Gate, gate } from '../support/gate.js';
import { WILLING_STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

/** What ends a run with something else of its session. */
const CAUSES: Readonly<Record<string, (session: SessionHandle) => Promise<unknown>>> = {
  'an interrupting message': (session) => session.send('next', { onBusy: 'interrupt' }).accepted,
  'a close': (session) => session.close(),
  'a move': (session) => session.move(null),
};

for (const on of WILLING_STORES) {
  describe(`a run that ends by itself while something supersedes it (${on.name})`, () => {
    for (const [name, cause] of Object.entries(CAUSES)) {
      for (const first of ['the cause', 'the run']) {
        it(`keeps what it had said: ${name}, where ${first} comes first`, async () => {
          const model = testStore(on);
          const finish: Gate = gate();
          const said = gate();
          const app = defineApp({
            async *run(turn) {
              if (turn.text === 'next') return;
              yield 'The whole answer.';
              turn.usage({ outputTokens: 5 });
              turn.annotate({ mood: 'good' });
              said.open();
              await finish.passed;
            },
          });
          const session = embedGateway({ app, store: model.store }).session('main');
          const run: HostRun = session.send('question');
          await said.passed;
          // What was yielded is on its way, and comes to the log before either end.
          for (let i = 0; i < 20; i++) await new Promise(setImmediate);
          if (first === 'the run') {
            finish.open();
            await Promise.resolve();
          }
          const caused = cause(session);
          finish.open();
          await caused;
          const { runId, message, stopReason, usage } = await run.result;
          expect(message.content, stopReason).to.deep.equal([{ type: 'text', text: 'The whole answer.' }]);
          expect(message.metadata).to.deep.equal({ mood: 'good' });
          expect(usage).to.deep.equal({ outputTokens: 5 });
          const log = model.logs.get(model.epochsOf('main')[0]!)!;
          const ends = log.filter((event) => event.type === 'message_end' && event.runId === runId);
          expect(ends).to.have.length(1);
          expect(ends[0]).to.deep.include({ stopReason, message });
        });
      }
    }
  });
}
