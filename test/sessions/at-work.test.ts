import { expect } from 'chai';
import { defineApp, type Gateway, memoryStore } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { post, startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';

const RESPOND_ASYNC = { prefer: 'respond-async' };

/** What is told of work, each time after a look that finds whatever is idle. */
function workAt(gateway: Gateway<any, any, any, any>) {
  gateway.stats();
  const { runs, sessions } = gateway.stats();
  return { active: runs.active, queued: runs.queued, questions: runs.questions, held: sessions.held };
}

describe('what is told of the work under way', () => {
  it('has a message on its way to the store, and nothing of it once it was answered', async () => {
    const taken = gate();
    const asked = gate();
    const memory = memoryStore();
    const store = overriding(memory, {
      async append(...given) {
        asked.open();
        await taken.passed;
        return memory.append(...given);
      },
    });
    const { gateway, url } = await startGateway({ app: defineApp({ run: () => 'ok' }), store });
    const sent = post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await asked.passed;
    expect(workAt(gateway)).to.deep.equal({ active: 0, queued: 1, questions: 0, held: 1 });
    taken.open();
    expect((await sent).status).to.equal(200);
    expect(workAt(gateway)).to.deep.equal({ active: 0, queued: 0, questions: 0, held: 1 });
  });

  it('has what a former process left: the run that waits, those behind it, and a child that outlived its parent', async () => {
    const path = newDatabase();
    const app = defineApp({
      resumable: true,
      async *run(turn) {
        if (turn.text === 'child') await turn.ask({ name: 'may' });
        else if (turn.text === 'parent') turn.spawn('asker', { message: 'child', id: 'c', detached: true });
        else if (turn.text === 'wait') await turn.ask({ name: 'may' });
        yield 'said';
      },
    });
    const start = () =>
      startGateway({
        apps: { main: app, asker: app },
        defaultApp: 'main',
        store: sqliteStore({ path }),
        limits: { drainMs: 0 },
      });
    const first = await start();
    const send = (sessionId: string, message: string) =>
      post(`${first.url}/send`, { sessionId, message }, RESPOND_ASYNC);
    for (const message of ['wait', 'next', 'last']) await send('one', message);
    await send('two', 'parent');
    const open = { active: 2, queued: 2, questions: 2, held: 2 };
    await until(() => workAt(first.gateway).questions === 2 && workAt(first.gateway).active === 2);
    expect(workAt(first.gateway)).to.deep.equal(open);
    await first.gateway.close();
    const { gateway } = await start();
    await until(() => gateway.stats().runs.questions === 2);
    expect(workAt(gateway)).to.deep.equal(open);
  });
});
