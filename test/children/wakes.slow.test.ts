import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { FAST } from '../support/gateway.js';
import { isHeard, leaver } from './leaver.js';
import { eventsUntil, foldOf, sendTo } from './tree.js';

describe('the end of a detached child, of which a gateway has not told', () => {
  it('begins a run of the app of its session at the next one, once', async () => {
    const path = newDatabase();
    const copies: string[] = [];
    const first = await startDurable(path, { app: leaver(async () => 'made it'), limits: FAST });
    await sendTo(first.url, 'go');
    await eventsUntil(first.url, ({ event, data }) => {
      if (event === 'message_end' && data.parentRunId !== undefined) copies.push(crashed(path));
      return isHeard({ event, data });
    });
    for (const copy of [...copies, crashed(path)]) {
      const second = await startDurable(copy, { app: leaver(async () => 'again'), limits: FAST });
      const state = foldOf(await eventsUntil(second.url, isHeard));
      const heard = state.messages.filter((message) => /^heard/.test(textOf(message)));
      expect(heard).to.have.length(1);
    }
  });
});
