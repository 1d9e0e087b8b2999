import { expect } from 'chai';
import type { GatewayEvent } from '../../shared/events.js';
import { DOORS } from '../plugins/conversation/doors.js';
import { halting } from '../support/apps.js';
import { takeUntil } from '../support/client.js';
import { until } from '../support/until.js';
import { said, startShared } from './support.js';

const BY_RUN = /^(message_start|content_delta|reasoning_delta|tool_|data|input_required|run_error)/;

for (const door of DOORS)
  describe(`a person who takes over from an app, by the door ${door.name}`, () => {
    it('cuts the answer, answers as the assistant, and hands what was said last to the app', async () => {
      const { app, began, held } = halting('', 'done');
      const { gateway, url, ann } = await startShared(app);
      gateway.use(door.plugin());
      const history = async () => (await ann.session.history()).messages.map(said);
      const tab = await door.open({ url });
      const one = tab.say('one').then(
        (text) => text,
        () => 'failed',
      );
      await began.passed;
      await ann.takeOver();
      held.open();
      expect(await one).to.be.oneOf(['one ', 'failed']);
      await ann.session.send('This is Ann').result;
      const two = (await door.open({ url, had: ['one', 'one '] })).say('two');
      const over = two.then(
        (text) => text,
        () => '',
      );
      await until(async () => (await history()).length === 4);
      // There is no answer: the page of `useChat` has its own message last, and that of LangGraph waits for one.
      if (door.name !== 'LangGraph') expect(await over).to.be.oneOf(['', 'two']);
      const before = [
        'user alice: one',
        'assistant taken_over: one ',
        'operator ann: This is Ann',
        'user alice: two',
      ];
      expect(await history()).to.deep.equal(before);
      const { runId } = await ann.handBack({ answer: true });
      const events = ann.client.events('main', { from: 'earliest' });
      const all: GatewayEvent[] = await takeUntil(
        events,
        (event) => event.type === 'message_end' && event.runId === runId,
      );
      const moves = all.flatMap(({ type }, at) => (type === 'control_moved' ? [at] : []));
      expect(all.slice(...moves).filter(({ type }) => BY_RUN.test(type))).to.deep.equal([]);
      expect(await history()).to.deep.equal([...before, 'assistant end: two done']);
      // What a door shows of it is an answer.
      const last = await door.open({ url, had: ['one', 'one ', 'two', 'two done'] });
      expect(await last.say('three')).to.equal('three done');
      expect((await history()).slice(0, -2)).to.deep.equal([...before, 'assistant end: two done']);
    });
  });
