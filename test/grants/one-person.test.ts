import { expect } from 'chai';
import { memoryStore } from '../../server/index.js';
import { get, post } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as } from '../support/users.js';
import { begin, talker, told } from './cast.js';

const NAMES = ['one', 'two', 'three', 'four'];

/** A session of Ann's with a message, which she shares by a link. */
async function beginLinked(given: Parameters<typeof begin>[0] = {}, role: 'viewer' | 'member' = 'member') {
  const it = await begin({ shareLinks: { upTo: 'member' }, ...given });
  const { body } = await it.send('hi');
  const { sessionId, token } = await it.shared({ with: { link: true }, as: role });
  const bearers = NAMES.map((name) => as(`${token}.${name}`));
  return { ...it, body, sessionId, bearers, token: token! };
}

describe('all who bear one link', () => {
  it('have one reaction to a message, whatever name stands behind the dot', async () => {
    const { url, ann, sessionId, bearers } = await beginLinked();
    const { body } = await get(`${url}/history?sessionId=main`, ann);
    const messageId = body.messages[0].id;
    for (const bearer of bearers)
      expect(told(await post(`${url}/react`, { sessionId, messageId, value: 'up' }, bearer))).to.deep.equal([
        200,
        undefined,
      ]);
    const { messages } = (await get(`${url}/history?sessionId=main`, ann)).body;
    expect(messages[0].reactions).to.have.length(1);
  });

  it('have one read place, and one rate of each kind', async () => {
    const { url, sessionId, bearers } = await beginLinked({ limits: { readsPerSecond: 2 } });
    const all = Array.from({ length: 8 }, (_, n) => bearers[n % bearers.length]!);
    const answers = await Promise.all(all.map((who) => post(`${url}/read`, { sessionId }, who)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(4);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(4);
  });

  it('leave one read place, also by what they send, and none behind the end of the link', async () => {
    const store = memoryStore();
    const { url, sessionId, bearers, unshare, token } = await beginLinked({ store });
    expect(token).to.match(/^lnk_/);
    for (const bearer of bearers) {
      await post(`${url}/read`, { sessionId }, bearer);
      await post(`${url}/send`, { sessionId, message: 'hello' }, bearer);
    }
    const home = { scope: '[null,"ann"]', app: 'default', name: 'main' };
    const read = async () => (await store.records({ home, kind: 'read', limit: 100 })).map(({ id }) => id);
    const ofGuests = (await read()).filter((id) => id.includes('guest'));
    expect(ofGuests).to.have.length(1);
    await unshare(sessionId.slice(1));
    expect((await read()).filter((id) => id.includes('guest'))).to.deep.equal([]);
    expect(await read()).to.include('[null,"ann"]');
  });

  it('have what four users have, by however many links of one owner', async () => {
    const { url, ann, shared } = await begin({ shareLinks: true, limits: { readsPerSecond: 0.5 } });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, ann);
    const links = await Promise.all(
      Array.from({ length: 8 }, () => shared({ with: { link: true }, as: 'viewer' })),
    );
    const answers = await Promise.all(
      links.map(({ sessionId, token }) => get(`${url}/status?sessionId=${sessionId}`, as(token!))),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(4);
  });

  it('have no pushes and no tools of MCP, and are told of the app of their session alone', async () => {
    const { url, bearers } = await beginLinked({
      apps: { talk: talker, other: talker },
      app: undefined as never,
      defaultApp: 'talk',
    });
    expect(told(await post(`${url}/push`, {}, bearers[0]))).to.deep.equal([403, 'ACCESS_DENIED']);
    const { apps } = (await get(`${url}/apps`, bearers[0])).body;
    expect(apps.map(({ name, tools }: any) => [name, tools])).to.deep.equal([['talk', []]]);
  });

  it('do not end it for each other, since they are not one to another', async () => {
    const { url, sessionId, bearers, unshare } = await beginLinked();
    const grantId = sessionId.slice(sessionId.indexOf('~') + 1);
    expect(told(await unshare(grantId, bearers[0], sessionId))).to.deep.equal([403, 'ACCESS_DENIED']);
    expect((await get(`${url}/status?sessionId=${sessionId}`, bearers[1])).status).to.equal(200);
  });

  it('take up half of the places of presence at most, and an owner always finds one', async () => {
    const { url, sessionId, token, ann } = await beginLinked({ limits: { presenceMembers: 4 } }, 'viewer');
    const attend = async (who: Record<string, string>, id: string): Promise<number> => {
      const stream = await openStream(`${url}/events?sessionId=${id}`, { headers: who });
      const { connectionId } = (await stream.until(({ event }) => event === 'connected')).data;
      return (await post(`${url}/presence`, { sessionId: id, connectionId, state: 'here' }, who)).status;
    };
    const statuses: number[] = [];
    for (const name of NAMES) statuses.push(await attend(as(`${token}.${name}`), sessionId));
    expect(statuses).to.deep.equal([200, 200, 429, 429]);
    for (let n = 0; n < 4; n += 1) expect(await attend(ann, 'main')).to.equal(200);
  });
});

describe('whoever a session is shared with', () => {
  it('may end that grant, and no other', async () => {
    const { url, send, shared, unshare, grants } = await begin();
    await send('hi');
    const ben = await shared({ with: { userId: 'ben' }, as: 'viewer' });
    const cyd = await shared({ with: { userId: 'cyd' }, as: 'viewer' });
    expect(told(await unshare(cyd.grantId, as('ben'), ben.sessionId))).to.deep.equal([403, 'ACCESS_DENIED']);
    expect(told(await unshare(ben.grantId, as('ben'), ben.sessionId))).to.deep.equal([200, undefined]);
    expect((await get(`${url}/status?sessionId=${ben.sessionId}`, as('ben'))).status).to.equal(404);
    const left = (await grants()).body.grants.map(({ grantId }: any) => grantId);
    expect(left).to.deep.equal([cyd.grantId]);
  });

  it('has so many sessions of one owner at most, and of another one as many again', async () => {
    const { url, share } = await begin({ limits: { sharedPerUser: 2 } });
    const give = async (owner: string, sessionId: string) => {
      await post(`${url}/send`, { sessionId, message: 'hi' }, as(owner));
      return told(await share({ with: { userId: 'ben' }, as: 'viewer' }, as(owner), sessionId));
    };
    expect(await give('ann', 'a')).to.deep.equal([200, undefined]);
    expect(await give('ann', 'b')).to.deep.equal([200, undefined]);
    expect(await give('ann', 'c')).to.deep.equal([507, 'QUOTA_EXCEEDED']);
    expect(await give('cyd', 'a')).to.deep.equal([200, undefined]);
  });

  it('leaves the last part of the room to the owner', async () => {
    const { send, shared } = await begin({ limits: { sessionBytes: 40_000 } });
    await send('hi');
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
    let status = 200;
    for (let n = 0; n < 40 && status === 200; n += 1)
      ({ status } = await send('x'.repeat(3000), as('ben'), sessionId));
    expect(status).to.equal(507);
    expect((await send('and I')).status).to.equal(200);
  });
});
