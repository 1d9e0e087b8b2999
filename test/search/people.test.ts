import { expect } from 'chai';
import { HIDDEN_PARTS } from '../../shared/grants.js';
import { get, post } from '../support/gateway.js';
import { ENGINES } from '../support/stores.js';
import { as } from '../support/users.js';
import { beginSearch } from './begin.js';

/** Ann's two sessions, one of which she shares with Ben and by a link; Mal is nobody. */
async function share(makeStore: () => any, config: object = {}) {
  const { url, ...rest } = await beginSearch({ store: makeStore(), ...config });
  const ann = as('ann');
  const say = (sessionId: string, message: string, headers: Record<string, string> = ann) =>
    post(`${url}/send`, { sessionId, message }, headers);
  await say('shared', 'the password is swordfish');
  await say('own', 'the password is halibut');
  await say('main', 'the password is trout', as('ben'));
  const shared = async (given: object) =>
    (await post(`${url}/share`, { sessionId: 'shared', as: 'viewer', ...given }, ann)).body;
  const ben = (await shared({ with: { userId: 'ben' }, hide: HIDDEN_PARTS })).grant;
  const link = await shared({ with: { link: true } });
  const find = async (token: string, query = 'query=password') => {
    const { status, body } = await get(`${url}/search?${query}`, as(token));
    return { status, body, fish: JSON.stringify(body).match(/swordfish|halibut|trout/g) ?? [] };
  };
  const unshare = (grantId: string) => post(`${url}/unshare`, { sessionId: 'shared', grantId }, ann);
  return { ...rest, url, ann, say, ben, link, find, unshare };
}

for (const [name, makeStore] of Object.entries(ENGINES))
  describe(`people who search in ${name}`, () => {
    it('find what they may see, by their own names, and a stranger finds nothing', async () => {
      const { find, ben, link } = await share(makeStore);
      expect((await find('ann')).fish.sort()).to.deep.equal(['halibut', 'halibut', 'swordfish', 'swordfish']);
      const bens = await find('ben');
      expect(bens.fish.sort()).to.deep.equal(['swordfish', 'swordfish', 'trout', 'trout']);
      expect(new Set(bens.body.hits.map((hit: any) => hit.sessionId))).to.deep.equal(
        new Set([ben.sessionId, 'main']),
      );
      expect(JSON.stringify(bens.body)).to.not.include('shared');
      const guest = await find(`${link.token}.one`);
      expect(guest.fish).to.deep.equal(['swordfish', 'swordfish']);
      expect(new Set(guest.body.hits.map((hit: any) => hit.sessionId))).to.deep.equal(
        new Set([link.grant.sessionId]),
      );
      expect(await find('mal')).to.deep.equal({ status: 200, body: { hits: [], cursor: null }, fish: [] });
      for (const token of ['mal', 'ben', `${link.token}.one`]) {
        const { fish } = await find(token, `query=password&sessionId=${encodeURIComponent('shared')}`);
        expect(fish, token).to.deep.equal([]);
      }
      expect(
        (await find('mal', `query=password&sessionId=${encodeURIComponent(ben.sessionId)}`)).status,
      ).to.equal(404);
      expect(
        (await find('ben', `query=password&sessionId=${encodeURIComponent(ben.sessionId)}`)).fish,
      ).to.have.length(2);
    });

    it('find nothing of it once the grant ends, and nothing of the conversation behind the shared one', async () => {
      const { find, ben, link, unshare, url, ann, say } = await share(makeStore);
      await unshare(ben.grantId);
      expect((await find('ben')).fish).to.deep.equal(['trout', 'trout']);
      await post(`${url}/close`, { sessionId: 'shared' }, ann);
      await say('shared', 'the password is swordfish still');
      const guest = await find(`${link.token}.one`);
      expect(guest.fish).to.deep.equal([]);
      expect((await find('ann')).fish.filter((fish) => fish === 'swordfish')).to.have.length(2);
    });

    it('find nothing where the host does not let them, in a session or in an app', async () => {
      const { find } = await share(makeStore, {
        sessionAccess: (_user: unknown, { name }: { name: string }, operation: string) =>
          operation !== 'search' || name !== 'own',
        appAccess: (user: { id: string }, app: string) => app !== 'parrot' || user.id !== 'ben',
      });
      expect((await find('ann')).fish).to.deep.equal(['swordfish', 'swordfish']);
      expect((await find('ben')).fish).to.deep.equal([]);
    });

    it('find nothing of what is deleted and erased', async () => {
      const { find, url, ann, gateway } = await share(makeStore);
      await post(`${url}/delete`, { sessionId: 'own' }, ann);
      expect((await find('ann')).fish).to.deep.equal(['swordfish', 'swordfish']);
      await gateway.erase({ user: { id: 'ann' } }, { vacuum: false });
      expect((await find('ann')).fish).to.deep.equal([]);
      expect((await find('ben')).fish).to.deep.equal(['trout', 'trout']);
    });
  });
