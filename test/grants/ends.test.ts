import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { FAST, get, post } from '../support/gateway.js';
import { heldStore } from '../support/held-store.js';
import { laterStore } from '../support/later-store.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as } from '../support/users.js';
import { begin, told } from './cast.js';

const ben = as('ben');
const hour = { every: '0 * * * *' };

/** The events of Ann's session so far. */
async function logOf(
  url: string,
): Promise<readonly { readonly type: string; readonly [field: string]: any }[]> {
  const last = await post(`${url}/update`, { sessionId: 'main', title: `${Math.random()}` }, as('ann'));
  if (last.status !== 200) throw new Error(JSON.stringify(last.body));
  const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: as('ann') });
  await stream.until(({ event }) => event === 'session_updated');
  stream.close();
  return stream.events.map(({ event, data }) => ({ type: event, ...data }));
}

describe('what ends with a grant', () => {
  for (const how of ['taken back', 'over in time'] as const)
    it(`is the control of whom it let in, when it is ${how}: the app answers again`, async () => {
      const { url, send, shared, unshare } = await begin({ limits: FAST });
      await send('hi');
      const given = { with: { userId: 'ben' }, as: 'operator' } as const;
      const { grantId, sessionId } = await shared({
        ...given,
        ...(how !== 'taken back' && { expiresInMs: 200 }),
      });
      expect((await post(`${url}/take-over`, { sessionId, untilMs: 3_600_000 }, ben)).status).to.equal(200);
      if (how === 'taken back') await unshare(grantId);
      else await until(async () => (await get(`${url}/history?sessionId=${sessionId}`, ben)).status === 404);
      await until(async () => (await send('anybody there?')).body.stopReason === 'end');
      const moves = (await logOf(url)).filter(({ type }) => /^(control_moved|grant_removed)$/.test(type));
      expect(moves.map(({ type, to, by }) => [type, to, by])).to.deep.equal([
        ['control_moved', 'ben', 'ben'],
        ['grant_removed', undefined, how === 'taken back' ? 'ann' : 'gateway'],
        ['control_moved', null, 'gateway'],
      ]);
      expect((await post(`${url}/take-over`, { sessionId: 'main' }, as('ann'))).status).to.equal(200);
    });

  it('is not the control that the owner has', async () => {
    const { url, send, shared, unshare } = await begin();
    await send('hi');
    const { grantId } = await shared({ with: { userId: 'ben' }, as: 'operator' });
    await post(`${url}/take-over`, { sessionId: 'main' }, as('ann'));
    await unshare(grantId);
    expect((await send('hi')).body.stopReason).to.equal('taken_over');
  });

  it('is what was set to be sent later, and no other schedule', async () => {
    const { url, send, shared, unshare } = await begin();
    await send('hi');
    const { grantId, sessionId } = await shared({ with: { userId: 'ben' }, as: 'operator' });
    await post(`${url}/schedule`, { sessionId: 'main', id: 'own', message: 'x', ...hour }, as('ann'));
    await post(`${url}/schedule`, { sessionId, id: 'hers', message: 'x', ...hour }, ben);
    await unshare(grantId);
    const { body } = await get(`${url}/schedules?sessionId=main`, as('ann'));
    expect(body.schedules.map(({ id }: { id: string }) => id)).to.deep.equal(['own']);
    const log = await logOf(url);
    const at = log.findIndex(({ type }) => type === 'grant_removed');
    expect(log[at + 1]).to.include({ type: 'schedule_unset', id: 'hers', by: 'gateway' });
  });

  it('leaves the owner in charge: only an owner gives back the control of somebody else', async () => {
    const { url, send, shared } = await begin();
    await send('hi');
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'operator' });
    const cy = await shared({ with: { userId: 'cy' }, as: 'operator' });
    await post(`${url}/take-over`, { sessionId }, ben);
    const refused = await post(`${url}/hand-back`, { sessionId: cy.sessionId }, as('cy'));
    expect(told(refused)).to.deep.equal([409, 'CONTROL_TAKEN']);
    expect((await post(`${url}/hand-back`, { sessionId: 'main', answer: true }, as('ann'))).status).to.equal(
      200,
    );
    const moved = (await logOf(url)).filter(({ type }) => type === 'control_moved').at(-1);
    expect(moved).to.deep.include({ to: null, by: 'ann', forced: true });
    expect((await send('hi')).body.stopReason).to.equal('end');
  });

  it('leaves the host in charge of a session that many own', async () => {
    const { gateway, url, send } = await begin({ sessionScope: 'global' });
    await send('hi');
    await post(`${url}/take-over`, { sessionId: 'main' }, ben);
    expect(told(await post(`${url}/hand-back`, { sessionId: 'main' }, as('ann')))).to.deep.equal([
      409,
      'CONTROL_TAKEN',
    ]);
    await gateway.execute('hand-back', { sessionId: 'main' }, { user: { id: 'ann' } });
    expect((await send('hi')).body.stopReason).to.equal('end');
  });
});

/** All that an operator may have on its way in a session when the grant ends. */
const ACTS: Readonly<Record<string, (sessionId: string) => readonly [path: string, body: object]>> = {
  send: (sessionId) => ['send', { sessionId, message: 'late' }],
  'send that interrupts': (sessionId) => ['send', { sessionId, message: 'late', onBusy: 'interrupt' }],
  'send beside': (sessionId) => ['send', { sessionId, message: 'late', lane: 'new' }],
  edit: (sessionId) => ['send', { sessionId, message: 'late', parent: null }],
  regenerate: (sessionId) => ['regenerate', { sessionId }],
  abort: (sessionId) => ['abort', { sessionId }],
  answer: (sessionId) => ['tool-response', { sessionId, callId: 'ask', output: 'late' }],
  publish: (sessionId) => ['channel', { sessionId, channel: 'notes', payload: 'late' }],
  update: (sessionId) => ['update', { sessionId, metadata: { late: true } }],
  'take over': (sessionId) => ['take-over', { sessionId }],
  schedule: (sessionId) => ['schedule', { sessionId, message: 'late', ...hour }],
  share: (sessionId) => ['share', { sessionId, with: { userId: 'zoe' }, as: 'operator' }],
};

describe('what is asked by a grant before its end', () => {
  const waiter = defineApp({
    async *run(turn) {
      if (turn.text === 'wait') yield String(await turn.ask({ name: 'what' }));
      else yield `Hello ${turn.text}`;
    },
  });

  for (const [what, act] of Object.entries(ACTS))
    it(`is not done behind it: ${what}`, async () => {
      const passes = gate();
      const asked = gate();
      const { url, send, shared, unshare } = await begin({
        app: waiter,
        limits: FAST,
        sessionAccess: async (user) => {
          if (user.id !== 'ben') return true;
          asked.open();
          await passes.passed;
          return true;
        },
      });
      await send('hi');
      const { grantId, sessionId } = await shared({ with: { userId: 'ben' }, as: 'operator' });
      const [path, body] = act(sessionId);
      const acting = post(`${url}/${path}`, body, ben);
      await asked.passed;
      expect((await unshare(grantId)).status).to.equal(200);
      passes.open();
      expect(told(await acting)).to.deep.equal([404, 'SESSION_NOT_FOUND']);
      const log = await logOf(url);
      const behind = log.slice(log.findIndex(({ type }) => type === 'grant_removed') + 1);
      expect(behind.map(({ type }) => type)).to.deep.equal(['session_updated']);
    });

  it('is done before it where it was on its way to the store', async () => {
    const { store, hold, release } = heldStore(memoryStore());
    const { url, send, shared, unshare } = await begin({ app: waiter, store, limits: FAST });
    await send('hi');
    const { grantId, sessionId } = await shared({ with: { userId: 'ben' }, as: 'operator' });
    const waiting = hold();
    const taking = post(`${url}/take-over`, { sessionId }, ben);
    await waiting;
    const ending = unshare(grantId);
    for (let turns = 0; turns < 5; turns++) await get(`${url}/healthz`);
    release();
    expect([(await taking).status, (await ending).status]).to.deep.equal([200, 200]);
    expect((await send('hi')).body.stopReason).to.equal('end');
  });

  it('begins no conversation where the owner has deleted the one that was shared', async () => {
    const passes = gate();
    const asked = gate();
    const { url, send, shared } = await begin({
      app: waiter,
      sessionAccess: async (user) => {
        if (user.id !== 'ben') return true;
        asked.open();
        await passes.passed;
        return true;
      },
    });
    await send('hi');
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
    const acting = post(`${url}/send`, { sessionId, message: 'late' }, ben);
    await asked.passed;
    expect((await post(`${url}/delete`, { sessionId: 'main' }, as('ann'))).status).to.equal(200);
    passes.open();
    expect(told(await acting)).to.deep.equal([404, 'SESSION_NOT_FOUND']);
    expect((await get(`${url}/sessions`, as('ann'))).body.sessions).to.deep.equal([]);
  });

  it('is no more than the bound, where all is given at once', async () => {
    const { gateway, url, send } = await begin({
      ...{ store: laterStore(memoryStore()), limits: { ...FAST, grantsPerSession: 8 } },
    });
    await send('hi');
    const all = Array.from({ length: 40 }, (_, n) =>
      gateway.execute(
        'share',
        { sessionId: 'main', with: { userId: `u${n}` }, as: 'viewer' },
        { user: { id: 'ann' } },
      ),
    );
    const settled = await Promise.allSettled(all);
    expect(settled.filter(({ status }) => status === 'fulfilled')).to.have.length(8);
    expect((await get(`${url}/grants?sessionId=main`, as('ann'))).body.grants).to.have.length(8);
  });
});
