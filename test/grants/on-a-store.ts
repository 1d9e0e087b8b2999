import { expect } from 'chai';
import type { Store } from '../../server/stores/store.js';
import { get, post } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as } from '../support/users.js';
import { begin, told } from './cast.js';

const ben = as('ben');

/** What grants do, whichever store keeps them. */
export function describeGrants(name: string, store: () => Store | Promise<Store>): void {
  describe(`grants on ${name}`, () => {
    const start = async (config = {}) => begin({ store: await store(), ...config });

    it('has somebody else reach the session, under an address that says nothing of its key', async () => {
      const { url, send, shared } = await start();
      await send('hi');
      const { sessionId, grantId } = await shared({ with: { userId: 'ben' }, as: 'member' });
      expect(sessionId).to.equal(`~${grantId}`);
      expect((await get(`${url}/history?sessionId=main`, ben)).status).to.equal(404);
      const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, { headers: ben });
      await send('from ben', ben, sessionId);
      await stream.until(
        ({ event, data }) => event === 'message_end' && data.message.content[0].text === 'Hello ben',
      );
      expect(JSON.stringify(stream.events)).not.to.include('"main"');
      for (const { data } of stream.logged) expect(data.sessionId).to.equal(sessionId);
      const { body } = await get(`${url}/history?sessionId=${sessionId}`, ben);
      const said = body.messages.map(({ role, senderId }: any) => [role, senderId]);
      expect(said).to.deep.equal([
        ['user', undefined],
        ['assistant', undefined],
        ['user', 'ben'],
        ['assistant', undefined],
      ]);
      const status = await get(`${url}/status?sessionId=${sessionId}`, ben);
      expect(status.body.sessionId).to.equal(sessionId);
      expect((await get(`${url}/history?sessionId=main`, as('ann'))).body.messages).to.have.length(4);
    });

    it('lists what was given, and takes it back', async () => {
      const { send, shared, grants, unshare, url } = await start();
      await send('hi');
      const one = await shared({ with: { userId: 'ben' }, as: 'viewer', hide: ['reasoning', 'reasoning'] });
      const two = await shared({ with: { userId: 'cy' }, as: 'operator', expiresInMs: 60_000 });
      const { body } = await grants();
      expect(body.grants).to.deep.equal([one, two]);
      expect(one).to.deep.include({ with: { userId: 'ben' }, as: 'viewer', hide: ['reasoning'], by: 'ann' });
      expect(two.expiresAt! - two.at).to.equal(60_000);
      expect(told(await unshare(one.grantId))).to.deep.equal([200, undefined]);
      expect(told(await unshare(one.grantId))).to.deep.equal([200, undefined]);
      expect((await grants()).body.grants).to.deep.equal([two]);
      expect(told(await get(`${url}/history?sessionId=${one.sessionId}`, ben))).to.deep.equal([
        404,
        'SESSION_NOT_FOUND',
      ]);
    });

    it('lists for everybody what is shared with them, and nobody else', async () => {
      const { send, shared, url } = await start();
      await send('hi');
      await send('hi', as('ann'), 'second');
      const one = await shared({ with: { userId: 'ben' }, as: 'viewer' });
      const { body: second } = await post(
        `${url}/share`,
        { sessionId: 'second', with: { userId: 'ben' }, as: 'member' },
        as('ann'),
      );
      const list = (who: string, more = '') => get(`${url}/sessions?shared=true${more}`, as(who));
      const { body } = await list('ben');
      expect(body.sessions.map(({ sessionId }: any) => sessionId)).to.have.members([
        one.sessionId,
        second.grant.sessionId,
      ]);
      const listed = body.sessions.find(({ sessionId }: any) => sessionId === one.sessionId);
      expect(listed).to.deep.include({
        app: 'default',
        sharedBy: { grantId: one.grantId, as: 'viewer', by: 'ann' },
      });
      expect(JSON.stringify(body)).not.to.match(/main|second/);
      const first = await list('ben', '&limit=1');
      const rest = await list('ben', `&limit=1&before=${first.body.cursor}`);
      expect([...first.body.sessions, ...rest.body.sessions]).to.deep.equal(body.sessions);
      expect(rest.body.cursor).to.equal(null);
      for (const who of ['cy', 'ann', 'acme/ben']) expect((await list(who)).body.sessions).to.deep.equal([]);
      expect((await get(`${url}/sessions`, ben)).body.sessions).to.deep.equal([]);
      expect(told(await list('cy', `&before=${first.body.cursor}`))).to.deep.equal([400, 'INVALID_PARAMS']);
    });

    it('ends with its conversation: another one under the same key is not shared, nor its events told', async () => {
      const { send, shared, grants, url, ann } = await start();
      await send('hi');
      const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
      const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, { headers: ben });
      await stream.until(({ event }) => event === 'message_end');
      await post(`${url}/close`, { sessionId: 'main' }, ann);
      await stream.until(({ event }) => event === 'session_closed');
      await send('anew');
      const { body } = await get(`${url}/history?sessionId=main`, ann);
      expect(body.messages).to.have.length(2);
      for (const path of ['history', 'status', 'export', 'events'])
        expect(told(await get(`${url}/${path}?sessionId=${sessionId}`, ben)), path).to.deep.equal([
          404,
          'SESSION_NOT_FOUND',
        ]);
      expect(told(await send('more', ben, sessionId))).to.deep.equal([404, 'SESSION_NOT_FOUND']);
      expect(stream.logged.at(-1)!.event).to.equal('session_closed');
      expect(JSON.stringify(stream.events)).not.to.include('anew');
      expect((await grants()).body.grants).to.deep.equal([]);
      expect((await get(`${url}/sessions?shared=true`, ben)).body.sessions).to.deep.equal([]);
    });

    it('goes with the session where that is deleted', async () => {
      const { send, shared, url, ann } = await start();
      await send('hi');
      const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
      await post(`${url}/delete`, { sessionId: 'main' }, ann);
      expect(told(await get(`${url}/history?sessionId=${sessionId}`, ben))).to.deep.equal([
        404,
        'SESSION_NOT_FOUND',
      ]);
      expect((await get(`${url}/sessions?shared=true`, ben)).body.sessions).to.deep.equal([]);
    });

    it('is not good after its time, and the log says that it ended', async () => {
      const { send, shared, url, ann } = await start();
      await send('hi');
      const stream = await openStream(`${url}/events?sessionId=main`, { headers: ann });
      await stream.until(({ event }) => event === 'connected');
      const { sessionId, grantId } = await shared({ with: { userId: 'ben' }, as: 'viewer', expiresInMs: 1 });
      const { data } = await stream.until(({ event }) => event === 'grant_removed');
      expect(data).to.include({ grantId, reason: 'expired', by: 'gateway' });
      expect(told(await get(`${url}/history?sessionId=${sessionId}`, ben))).to.deep.equal([
        404,
        'SESSION_NOT_FOUND',
      ]);
    });

    it('is bounded in number, by a limit that the error names', async () => {
      const { send, share } = await start({ limits: { grantsPerSession: 2 } });
      await send('hi');
      for (const userId of ['b', 'c']) await share({ with: { userId }, as: 'viewer' });
      const { status, body } = await share({ with: { userId: 'd' }, as: 'viewer' });
      expect([status, body.error.code]).to.deep.equal([507, 'QUOTA_EXCEEDED']);
      expect(body.error.message).to.include('limits.grantsPerSession');
    });
  });
}

/** What ends a grant at one gateway ends it at another. @param two Stores of two gateways */
export function describeEndings(name: string, two: () => Promise<readonly [Store, Store]>): void {
  const pair = async ([one, other]: readonly [Store, Store]) => ({
    here: await begin({ store: one }),
    there: await begin({ store: other }),
  });

  describe(`a grant that is taken back at another gateway, on ${name}`, () => {
    it('ends there what is open by it, whichever holds the session', async () => {
      for (const holds of ['here', 'there'] as const) {
        const { here, there } = await pair(await two());
        await (holds === 'here' ? here : there).send('hi');
        const { sessionId, grantId } = await here.shared({ with: { userId: 'ben' }, as: 'viewer' });
        const stream = await openStream(`${there.url}/events?sessionId=${sessionId}`, { headers: ben });
        await stream.until(({ event }) => event === 'heartbeat');
        await here.unshare(grantId);
        await stream.ended;
        for (const { url } of [here, there])
          expect(told(await get(`${url}/history?sessionId=${sessionId}`, ben)), holds).to.deep.equal([
            404,
            'SESSION_NOT_FOUND',
          ]);
      }
    });
  });
}
