import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import { heldApp } from '../../support/apps.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { expiringToken } from '../../support/expiring-token.js';
import { byName } from '../../support/users.js';
import { toldUntilCut } from '../door.js';
import { actor, eventsIn, eventsOf, input, says, startAgUi, withAgUi } from './fixtures.js';

const RUN = '/agent/default';
const toldIn = (events: readonly any[]): string =>
  events.map(({ type, delta = '' }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : '')).join('');

describe('an AG-UI stream', () => {
  it('tells that its answer was lost, when the gateway closes', async () => {
    const { app, held, began } = heldApp('working ', 'done');
    const ui = await startAgUi({ app });
    const response = await ui.post(RUN, input('r', [says('u1', 'x')]));
    await began.passed;
    const reading = response.text();
    await ui.gateway.close();
    held.open();
    const events = eventsIn(await reading);
    expect(events.slice(-2).map(({ type, code }) => code ?? type)).to.deep.equal([
      'TEXT_MESSAGE_END',
      'LOST',
    ]);
  });

  it('never ends cleanly before the end of the answer: one that may not read on is cut', async () => {
    const { app, held, began } = heldApp('working ', 'done');
    const { auth, limits, expire } = expiringToken();
    const ui = await startAgUi({ app, auth, limits });
    const response = await ui.post(RUN, input('r', [says('u1', 'x')]));
    await began.passed;
    const text = await toldUntilCut(response, 'TEXT_MESSAGE_CONTENT', expire);
    const started = ['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT'];
    expect(eventsIn(text).map(({ type }) => type)).to.deep.equal(started);
    held.open();
  });

  it('has the same events after a crash, and goes on with what was asked', async () => {
    const path = newDatabase();
    const { app, effects } = actor();
    const config = { app: { ...app, resumable: true }, auth: byName };
    const start = async (at: string) => {
      const started = await startDurable(at, config);
      started.gateway.use(agUiPlugin());
      return withAgUi(started);
    };
    const ui = await start(path);
    const body = input('r1', [says('u1', 'pay done')]);
    const told = await (await ui.post(RUN, body)).text();
    const again = await start(crashed(path));
    expect(await (await again.post(RUN, body)).text()).to.equal(told);
    const [{ id: interruptId }] = eventsIn(told).at(-1).outcome.interrupts;
    const resume = [{ interruptId, status: 'resolved', payload: true }];
    const on = await eventsOf(await again.post(RUN, input('r2', body.messages, { resume })));
    expect(toldIn(on)).to.equal('[pay: {"did":"pay","n":1}] done ');
    expect(effects).to.deep.equal(['pay']);
  });

  it('tells a run whose events are not kept from what was folded', async () => {
    const app = defineApp({
      async *run(turn: any) {
        for (let n = 0; n < 60; n++) {
          yield `${n} `;
          await new Promise(setImmediate);
        }
        yield JSON.stringify(await turn.ask({ name: 'more' }));
      },
    });
    const ui = await startAgUi({ app, limits: { retention: { events: 10 } } });
    const body = input('r1', [says('u1', 'go')]);
    const told = await eventsOf(await ui.post(RUN, body));
    const whole = toldIn(told);
    expect(whole).to.match(/59 $/);
    for (const path of [RUN, `${RUN}/connect`]) {
      const again = await eventsOf(
        await ui.post(path, { ...body, messages: path === RUN ? body.messages : [] }),
      );
      expect(toldIn(again)).to.equal(whole);
      expect(again.length).to.be.lessThan(told.length);
      expect(again.at(-1)).to.deep.equal(told.at(-1));
    }
    const { toolCallId } = told.find(({ type }) => type === 'TOOL_CALL_START');
    const answer = { id: 't1', role: 'tool', toolCallId, content: 'yes' };
    const on = await eventsOf(await ui.post(RUN, input('r2', [...body.messages, answer])));
    expect(toldIn(on)).to.match(/"yes"$/);
    expect(on.at(-1).outcome).to.deep.equal({ type: 'success' });
  });

  it('denies what is open where the plugin is to, when a message comes instead', async () => {
    const { app, effects } = actor();
    const ui = await startAgUi({ app }, { openQuestions: 'deny' });
    await (await ui.post(RUN, input('r1', [says('u1', 'pay')]))).text();
    const next = await eventsOf(await ui.post(RUN, input('r2', [says('u1', 'pay'), says('u2', 'instead')])));
    expect(toldIn(next)).to.equal('instead ');
    expect(effects).to.deep.equal([]);
  });
});
