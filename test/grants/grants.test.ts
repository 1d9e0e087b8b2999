import { expect } from 'chai';
import { sessionSharing } from '../../client/people/index.js';
import type { EventOf } from '../../shared/events.js';
import { connectClient, failure, takeUntil } from '../support/client.js';
import { get } from '../support/gateway.js';
import { ENGINES } from '../support/stores.js';
import { as } from '../support/users.js';
import { begin, talker, told } from './cast.js';
import { describeGrants } from './on-a-store.js';

const ben = as('ben');

for (const [name, store] of Object.entries(ENGINES)) describeGrants(name, store);

describe('share', () => {
  it('refuses what makes no sense, naming the field, and nothing is given', async () => {
    const { send, share, shared, grants } = await begin();
    await send('hi');
    const { sessionId } = await shared({
      with: { userId: 'ben' },
      as: 'operator',
      hide: ['reasoning'],
    });
    const bad: [object, string, Record<string, string>?, string?][] = [
      [{ with: { userId: 'ann' }, as: 'viewer' }, 'with.userId'],
      [{ with: { link: true }, as: 'viewer' }, 'with.link'],
      [{ with: {}, as: 'viewer' }, 'with'],
      [{ with: { userId: 'cy', link: true }, as: 'viewer' }, 'with'],
      [{ with: { userId: '' }, as: 'viewer' }, 'with.userId'],
      [{ with: { userId: 'cy' }, as: 'owner' }, 'as'],
      [{ with: { userId: 'cy' } }, 'as'],
      [{ with: { userId: 'cy' }, as: 'viewer', hide: ['text'] }, 'hide.0'],
      [{ with: { userId: 'cy' }, as: 'viewer', expiresInMs: 0 }, 'expiresInMs'],
      [{ with: { userId: 'cy' }, as: 'viewer', expiresInMs: 1e300 }, 'expiresInMs'],
      [{ with: { userId: 'cy' }, as: 'viewer' }, 'hide', ben, sessionId],
      [{ with: { userId: 'ben' }, as: 'viewer', hide: ['reasoning'] }, 'with.userId', ben, sessionId],
    ];
    for (const [given, path, who, id] of bad) {
      const { status, body } = await share(given as never, who, id);
      expect([status, body.error.code, body.error.details?.[0]?.path], JSON.stringify(given)).to.deep.equal([
        400,
        'INVALID_PARAMS',
        path,
      ]);
    }
    expect((await grants()).body.grants).to.have.length(1);
    const given = { with: { userId: 'cy' }, as: 'operator', hide: ['reasoning', 'usage'] } as const;
    expect(told(await share(given, ben, sessionId))).to.deep.equal([200, undefined]);
  });

  it('of a session that has not begun is 404', async () => {
    const { share } = await begin();
    expect(told(await share({ with: { userId: 'ben' }, as: 'viewer' }))).to.deep.equal([
      404,
      'SESSION_NOT_FOUND',
    ]);
  });

  it('names nobody where users are not told apart', async () => {
    const { send, share } = await begin({ auth: { type: 'none' } });
    await send('hi');
    const { body } = await share({ with: { userId: 'ben' }, as: 'viewer' });
    expect(body.error.details[0].path).to.equal('with.userId');
  });

  it('reaches users of the same tenant alone', async () => {
    const { send, share, url } = await begin();
    const owner = as('acme/ann');
    await send('hi', owner);
    const { body } = await share({ with: { userId: 'ben' }, as: 'viewer' }, owner);
    const { sessionId } = body.grant;
    expect((await get(`${url}/history?sessionId=${sessionId}`, as('acme/ben'))).status).to.equal(200);
    for (const other of ['ben', 'other/ben'])
      expect((await get(`${url}/history?sessionId=${sessionId}`, as(other))).status, other).to.equal(404);
  });

  it('asks sessionAccess with the grant, and appAccess', async () => {
    const asked: unknown[] = [];
    const { send, shared, url } = await begin({
      sessionAccess: (user, session, operation) => {
        asked.push([user.id, session.name, session.via, operation]);
        return session.via?.as !== 'member';
      },
      appAccess: (user) => user.id !== 'cy',
    });
    await send('hi');
    const viewer = await shared({ with: { userId: 'ben' }, as: 'viewer' });
    const member = await shared({ with: { userId: 'ben' }, as: 'member' });
    const cys = await shared({ with: { userId: 'cy' }, as: 'viewer' });
    asked.length = 0;
    expect((await get(`${url}/history?sessionId=${viewer.sessionId}`, ben)).status).to.equal(200);
    expect(asked).to.deep.equal([['ben', 'main', { grantId: viewer.grantId, as: 'viewer' }, 'history']]);
    expect((await get(`${url}/history?sessionId=${member.sessionId}`, ben)).status).to.equal(404);
    expect(told(await get(`${url}/history?sessionId=${cys.sessionId}`, as('cy')))).to.deep.equal([
      404,
      'APP_NOT_FOUND',
    ]);
  });

  it('in another app has an address there, and is of no use in another', async () => {
    const { url, share, send } = await begin({
      app: undefined,
      apps: { one: talker, two: talker },
      defaultApp: 'one',
    } as never);
    await send('hi', as('ann'), 'two:main');
    const { body } = await share({ with: { userId: 'ben' }, as: 'viewer' }, as('ann'), 'two:main');
    const { sessionId, grantId } = body.grant;
    expect(sessionId).to.equal(`two:~${grantId}`);
    expect((await get(`${url}/history?sessionId=${sessionId}`, ben)).status).to.equal(200);
    expect((await get(`${url}/history?sessionId=~${grantId}`, ben)).status).to.equal(404);
  });

  it("a session's own name does not begin as an address does", async () => {
    const { url, send, ann } = await begin();
    for (const sessionId of ['~main', 'default:~main'])
      expect(told(await send('hi', ann, sessionId))).to.deep.equal([404, 'SESSION_NOT_FOUND']);
    expect((await send('hi', ann, 'ma~in')).status).to.equal(400);
    expect((await get(`${url}/sessions`, ann)).body.sessions).to.deep.equal([]);
  });
});

describe('sessionSharing', () => {
  it('shares, lists and ends grants, and a client follows the session at its address', async () => {
    const { url } = await begin();
    const ann = connectClient(url, { token: 'ann' });
    await ann.send('main', 'hi').result;
    const main = sessionSharing(ann, 'main');
    const { grant } = await main.share({ with: { userId: 'ben' }, as: 'member' });
    expect(await main.grants()).to.deep.equal([grant]);
    const client = connectClient(url, { token: 'ben' });
    const events = client.events(grant.sessionId, { from: 'earliest' });
    const result = await client.send(grant.sessionId, 'hello').result;
    expect(result.message.content[0]).to.deep.include({ text: 'Hello ben' });
    const seen = await takeUntil(
      events,
      (event) => event.type === 'message_end' && (event as EventOf<'message_end'>).runId === result.runId,
    );
    expect(seen.map(({ type }) => type))
      .to.include('hidden')
      .and.not.include('grant_added');
    await main.unshare(grant.grantId);
    expect(await failure(events.next())).to.include({ code: 'SESSION_NOT_FOUND' });
  });

  it('needs a client of this package', () => {
    expect(() => sessionSharing({} as never, 'main')).to.throw('sessionSharing needs a client');
  });
});
