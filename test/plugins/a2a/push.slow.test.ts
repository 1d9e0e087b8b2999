import { expect } from 'chai';
import { createGateway } from '../../../server/index.js';
import { a2aPlugin } from '../../../server/plugins/a2a/index.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import { Receiver } from '../../notices/receiver.js';
import { crashed, newDatabase } from '../../support/durable.js';
import { closeLater } from '../../support/resources.js';
import { byName } from '../../support/users.js';
import { startA2a } from './fixtures.js';
import { app, config, OPEN, STATES, stateOf, toldTo, update } from './push-fixtures.js';

describe('push notifications of A2A', () => {
  it('are tried again, by the next process too, and tell the state of then', async () => {
    const [file, receiver] = [
      newDatabase(),
      await Receiver.start((response) => response.writeHead(503).end()),
    ];
    const first = await startA2a({ app, notify: OPEN, store: sqliteStore({ path: file }) });
    const agent = await first.client();
    const { id: taskId }: any = await agent.sendMessage(toldTo('hi', config(receiver.url)));
    await receiver.until(({ length }) => length === 1);
    receiver.answer = (response) => response.writeHead(204).end();
    const store = sqliteStore({ path: crashed(file) });
    await first.gateway.close();
    const second = createGateway({ app, notify: OPEN, auth: byName, port: 0, store });
    closeLater(second, (it) => it.close());
    second.use(a2aPlugin());
    await second.start();
    const all = await receiver.until((all) => all.length > 1);
    expect(update(all[1]!)).to.include({ taskId });
    expect([stateOf(all[1]!), all[1]!.id]).to.deep.equal([STATES.done, all[0]!.id]);
  });
});
