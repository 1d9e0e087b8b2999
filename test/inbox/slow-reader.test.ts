import { expect } from 'chai';
import { InboxChanges } from '../../server/features/inbox/changes.js';
import { Inbox } from '../../server/features/inbox/inbox.js';
import { InboxStream } from '../../server/features/inbox/inbox-stream.js';
import { Grants } from '../../server/grants/grants.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { InboxChange } from '../../shared/inbox/contract.js';
import { gate } from '../support/gate.js';
import { closeLater } from '../support/resources.js';
import { personOf } from '../support/users.js';
import { begin } from './begin.js';

const OWNER = JSON.stringify([null, 'token']);

describe('a stream of an inbox whose reader does not keep up', () => {
  it('tells once of each session, as it is by then', async () => {
    const store = memoryStore();
    const { client } = await begin({ store });
    const changes = new InboxChanges((error) => {
      throw error;
    });
    const inbox = new Inbox({
      store,
      apps: { format: (_app, name) => name },
      grants: new Grants(store),
      logOf: () => Promise.reject(new Error('no log is to be read')),
      mayShow: () => true,
    });
    const told: InboxChange[] = [];
    const isTold = gate();
    const outlet = {
      writable: false,
      person: personOf('token', { scope: OWNER, key: OWNER }),
      send: (_type: 'inbox', data: InboxChange) => {
        told.push(data);
        if (data.unread === 3) isTold.open();
      },
      report: (error: unknown) => {
        throw error;
      },
    };
    const stream = closeLater(new InboxStream(inbox, changes, outlet), (it) => it.close());
    await stream.open({});
    stream.begin();
    for (let round = 0; round < 10; round++)
      for (const name of ['one', 'two', 'three']) {
        await client.send(name, 'hi').result;
        changes.changed({ scope: OWNER, app: 'default', name }, true);
      }
    expect(told).to.deep.equal([]);
    outlet.writable = true;
    stream.pump();
    await isTold.passed;
    // The page that it began with, which was empty, and one event for all that has come since.
    expect(told.map(({ sessions }) => sessions.length)).to.deep.equal([0, 3]);
    expect(told[0]!.reset).to.equal(true);
  });
});
