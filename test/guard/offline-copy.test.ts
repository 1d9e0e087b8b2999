import { expect } from 'chai';
import { type StorageLike, storage } from '../../client/offline/index.js';
import { memoryStore } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { as, byName, userNamed } from '../support/users.js';

const SECRET = 'four-thousand-milligrams';

describe('the copy of a session on a device', () => {
  for (const isThere of [true, false])
    it(`forgets what is taken back while its page is ${isThere ? 'open' : 'closed'}`, async () => {
      const { gateway, url } = await startGateway({ app: echo, auth: byName, store: memoryStore() });
      const session = gateway.session('main', { user: userNamed('ann') });
      const answers = [];
      for (const text of ['one', SECRET, 'three'])
        answers.push((await (await session.send(text)).result).message);
      const map = new Map<string, string>();
      const place: StorageLike = {
        getItem: (key) => map.get(key) ?? null,
        setItem: (key, value) => map.set(key, value),
        removeItem: (key) => map.delete(key),
        getAllKeys: () => [...map.keys()],
      };
      const kept = (): string => JSON.stringify([...map]);
      const open = () => {
        const client = connectClient(url, { token: 'ann', persist: storage(place, { user: 'ann' }) });
        const shown = client.session('main').watch();
        shown.subscribe(() => {});
        return { client, shown };
      };
      let page = open();
      await until(() => kept().includes(SECRET) && kept().includes('three'));
      if (!isThere) page.client.disconnect();
      const [, , question] = (await session.history()).messages;
      for (const { id } of [question!, answers[1]!]) await session.retract(id);
      if (!isThere) {
        expect(kept()).to.include(SECRET);
        page = open();
      }
      await until(() => page.shown.getSnapshot().messages.length === 6 && !kept().includes(SECRET));
      expect(JSON.stringify(page.shown.getSnapshot())).to.not.include(SECRET);
      expect(kept()).to.include('three');
      expect((await fetch(`${url}/history?sessionId=main`, { headers: as('ann') })).status).to.equal(200);
    });
});
