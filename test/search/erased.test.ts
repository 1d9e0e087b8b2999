import { dirname } from 'node:path';
import { expect } from 'chai';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { newDatabase } from '../support/durable.js';
import { get, post } from '../support/gateway.js';
import { filesWith } from '../support/raw-bytes.js';
import { as } from '../support/users.js';
import { beginSearch } from './begin.js';

const PLANTED = 'zyxwvutsecretword';

describe('the words of what was erased', () => {
  for (const [how, count] of [
    ['few', 1],
    ['many', 40],
  ] as const)
    it(`are in no file of an SQLite store (${how} of them)`, async () => {
      const path = newDatabase();
      const { gateway, url } = await beginSearch({ store: sqliteStore({ path }) });
      for (let i = 0; i < count; i++) {
        await post(`${url}/send`, { sessionId: 'main', message: `${PLANTED} ${i} and more` }, as('ann'));
        await post(`${url}/send`, { sessionId: 'main', message: `what ben said ${i}` }, as('ben'));
        const find = () => get(`${url}/search?query=${PLANTED}`, as('ann'));
        if (i === 0 || i === 30) expect((await find()).body.hits, 'it is found').to.have.length.above(1);
      }
      expect(filesWith(dirname(path), PLANTED), 'it was there').to.not.deep.equal([]);
      await gateway.erase({ user: { id: 'ann' } });
      expect(filesWith(dirname(path), PLANTED)).to.deep.equal([]);
      // Not even a part of it, as an index has it.
      expect(filesWith(dirname(path), PLANTED.slice(3))).to.deep.equal([]);
      const { body } = await get(`${url}/search?query=ben&limit=100`, as('ben'));
      expect(body.hits).to.have.length(2 * count);
      await gateway.close();
      expect(filesWith(dirname(path), PLANTED)).to.deep.equal([]);
    });
});
