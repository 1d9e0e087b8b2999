import { expect } from 'chai';
import type { SearchHit } from '../../client/search/index.js';
import { defineApp, type Store } from '../../server/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { withDeadlines } from '../../server/stores/store-deadlines.js';
import { parseCursor } from '../../shared/cursor.js';
import { get } from '../support/gateway.js';
import { ENGINES } from '../support/stores.js';
import { as } from '../support/users.js';
import { beginSearch, findAll, marked, snippets } from './begin.js';

/** A store that cannot search, as one in Redis. */
function withoutIndex(): Store {
  const { search: _, ...store } = withDeadlines(memoryStore(), Number.POSITIVE_INFINITY);
  return store;
}

const STORES: Readonly<Record<string, () => Store>> = {
  ...ENGINES,
  'a store without an index': withoutIndex,
};

for (const [name, makeStore] of Object.entries(STORES)) {
  const begin = () => beginSearch({ store: makeStore() });

  describe(`search in ${name}`, () => {
    it('finds what was asked and answered, with the words marked, and leads to it', async () => {
      const { person } = await begin();
      const { client, search } = person('ann');
      await client.session('trip').send('When does the train to Zürich leave?').result;
      await client.session('other:food').send('Where do we eat?').result;
      await client.session('trip').update({ title: 'A trip' });
      const { hits, cursor } = await search('zurich train');
      expect(cursor).to.equal(null);
      const { messages } = await client.session('trip').history();
      expect(hits.map(({ messageId }) => messageId).sort()).to.deep.equal(
        messages.map(({ id }) => id).sort(),
      );
      const { epoch } = parseCursor((await client.session('trip').status()).cursor!)!;
      for (const hit of hits) {
        expect(hit).to.include({ sessionId: 'trip', app: 'parrot', title: 'A trip' });
        expect(marked(hit)).to.deep.equal(['train', 'Zürich']);
        expect(Math.abs(hit.at - Date.now())).to.be.below(60_000);
        expect(parseCursor(hit.cursor)!.epoch).to.equal(epoch);
      }
      expect(await findAll(search, 'eat', { app: 'parrot' })).to.deep.equal([]);
      expect(
        (await findAll(search, 'eat', { app: 'other' })).map(({ sessionId }) => sessionId),
      ).to.deep.equal(['other:food', 'other:food']);
      expect(await findAll(search, 'eat train')).to.deep.equal([]);
    });

    it('pages through everything once, and finds in one session and by time', async () => {
      const { person } = await begin();
      const { client, search } = person('ann');
      for (const id of ['a', 'b', 'c'])
        for (const n of [1, 2, 3]) await client.session(id).send(`tea ${id}${n}`).result;
      const places = (hits: readonly SearchHit[]) => hits.map(({ messageId }) => messageId).sort();
      const all = places(await findAll(search, 'tea'));
      expect(all).to.have.length(18);
      expect(new Set(all).size).to.equal(18);
      expect(places(await findAll(search, 'tea', { limit: 4 }))).to.deep.equal(all);
      const inB = await findAll(search, 'tea', { sessionId: 'b' });
      expect(inB.map(({ sessionId }) => sessionId)).to.deep.equal(Array.from({ length: 6 }, () => 'b'));
      expect(await findAll(search, 'tea', { to: 1000 })).to.deep.equal([]);
      expect(await findAll(search, 'tea', { from: 1000 })).to.have.length(18);
    });

    it('finds only what is shown: an edited message, a version that is taken again, a fork, nothing of the end', async () => {
      const { person } = await begin();
      const { client, search } = person('ann');
      const session = client.session('main');
      const first = await session.send('one apple').result;
      await session.send('two apples').result;
      const { messages } = await session.history();
      await session.send('three pears', { replaces: messages[2]!.id }).result;
      expect(snippets(await findAll(search, 'apple')).sort()).to.deep.equal([
        'You said one apple',
        'one apple',
      ]);
      expect(await findAll(search, 'pears')).to.have.length(2);
      await session.fork('forked', { at: first.message.id });
      expect(await findAll(search, 'apple', { sessionId: 'forked' })).to.have.length(2);
      await session.move({ version: messages[2]!.id });
      expect(await findAll(search, 'apples', { sessionId: 'main' })).to.have.length(2);
      expect(await findAll(search, 'pears', { sessionId: 'main' })).to.deep.equal([]);
      await session.close();
      const left = await findAll(search, 'apple');
      expect(left.map(({ sessionId }) => sessionId)).to.deep.equal(['forked', 'forked']);
    });

    it('weighs short and new messages more, and ranks words in full above their beginnings', async () => {
      const { person } = await begin();
      const { client, search } = person('ann');
      const long = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
      await client.session('a').send(`coffee ${long}`).result;
      await client.session('b').send('coffee').result;
      await client.session('c').send('coffeehouse').result;
      const found = (await findAll(search, 'coffee')).filter(({ role }) => role === 'user');
      expect(found.map(({ sessionId }) => sessionId)).to.deep.equal(['b', 'c', 'a']);
    });
  });
}

describe('search', () => {
  it('refuses what is no query, and finds nothing by no words', async () => {
    const { url, person } = await beginSearch();
    const { search } = person('ann');
    for (const query of [
      '',
      'query=',
      `query=${'a'.repeat(201)}`,
      'query=a&limit=101',
      'query=a&from=soon',
      'query=a&cursor=9',
      'query=a&other=1',
    ]) {
      const { status, body } = await get(`${url}/search?${query}`, as('ann'));
      expect([status, body.error?.code], query).to.deep.equal([400, 'INVALID_PARAMS']);
    }
    expect(await search('?!')).to.deep.equal({ hits: [], cursor: null });
    expect(await search('a', { cursor: '1.2.3' })).to.deep.equal({ hits: [], cursor: null });
  });

  it('is of host code too, for a session and for all', async () => {
    const { gateway } = await beginSearch();
    const session = gateway.session('main', { user: { id: 'ann' } });
    await session.send('a needle in the hay').result;
    expect((await session.search('needle')).hits).to.have.length(2);
    expect(
      (await gateway.execute('search', { query: 'needle' }, { user: { id: 'ann' } })).hits,
    ).to.have.length(2);
    expect(
      (await gateway.execute('search', { query: 'needle' }, { user: { id: 'ben' } })).hits,
    ).to.deep.equal([]);
  });

  it('does not find thoughts, tools and data of an app', async () => {
    const app = defineApp({
      async *run() {
        yield { type: 'reasoning_delta', delta: 'thought' } as const;
        yield { type: 'data', id: 'd', name: 'chart', value: 'datum' } as const;
        yield 'spoken';
      },
    });
    const { person } = await beginSearch({ apps: undefined, defaultApp: undefined, app });
    const { client, search } = person('ann');
    await client.session('main').send('hello').result;
    expect(await findAll(search, 'spoken')).to.have.length(1);
    for (const query of ['thought', 'datum', 'chart'])
      expect(await findAll(search, query), query).to.deep.equal([]);
  });
});
