import { expect } from 'chai';
import { defineApp, method } from '../../server/index.js';
import { forEver } from '../security/endless-stream.js';
import { gate } from '../support/gate.js';
import { get, jsonHeaders, post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as } from '../support/users.js';
import { begin, told } from './cast.js';
import { describeEndings } from './on-a-store.js';

const ben = as('ben');

describe('a grant that is taken back', () => {
  it('ends the streams that are open by it, and no other', async () => {
    const { url, send, shared, unshare } = await begin();
    await send('hi');
    const one = await shared({ with: { userId: 'ben' }, as: 'viewer' });
    const two = await shared({ with: { userId: 'ben' }, as: 'viewer' });
    const open = (sessionId: string, who = ben) =>
      openStream(`${url}/events?sessionId=${sessionId}`, { headers: who });
    const [first, second, owner] = [
      await open(one.sessionId),
      await open(two.sessionId),
      await open('main', as('ann')),
    ];
    for (const stream of [first, second, owner]) await stream.until(({ event }) => event === 'heartbeat');
    await unshare(one.grantId);
    await first.ended;
    const { body } = await send('after');
    for (const stream of [second, owner])
      await stream.until(({ event, data }) => event === 'message_end' && data.runId === body.runId);
    expect(JSON.stringify(first.events)).not.to.include(body.runId);
    expect(told(await get(`${url}/events?sessionId=${one.sessionId}`, ben))).to.deep.equal([
      404,
      'SESSION_NOT_FOUND',
    ]);
  });

  it('is one of the session that is named: another session has no say in it', async () => {
    const { url, send, shared, unshare } = await begin();
    await send('hi');
    await send('hi', as('cy'), 'other');
    const { grantId, sessionId } = await shared({ with: { userId: 'ben' }, as: 'viewer' });
    const stream = await openStream(`${url}/events?sessionId=${sessionId}`, { headers: ben });
    await stream.until(({ event }) => event === 'heartbeat');
    expect((await unshare(grantId, as('cy'), 'other')).status).to.equal(200);
    const { body } = await send('after');
    await stream.until(({ event, data }) => event === 'message_end' && data.runId === body.runId);
  });

  it('ends sockets, streams of runs and of methods, and what waits for a run is told nothing of it', async () => {
    const held = gate();
    const app = defineApp({
      run: async (turn) => {
        if (turn.text === 'hold') await held.passed;
        return `secret of ${turn.text}`;
      },
    });
    const { url, send, shared, unshare } = await begin({
      app,
      methods: { watch: method({ handler: forEver }) },
    });
    await send('hi');
    const { sessionId, grantId } = await shared({ with: { userId: 'ben' }, as: 'member' });
    const socket = await openWebSocket(url);
    await socket.connect({ token: 'ben' });
    await socket.ask('s', 'subscribe', { add: [sessionId] });
    const posting = (path: string, body: object) =>
      openStream(`${url}/${path}`, {
        method: 'POST',
        headers: jsonHeaders('ben'),
        body: JSON.stringify(body),
      });
    const watching = await posting('invoke', { method: 'watch', sessionId });
    await watching.until(({ event }) => event === 'chunk');
    const run = await posting('send', { sessionId, message: 'hold' });
    await run.until(({ event }) => event === 'message_start');
    const waiting = send('more', ben, sessionId);
    await until(async () => (await get(`${url}/status?sessionId=main`, as('ann'))).body.queued === 1);
    await unshare(grantId);
    await Promise.all([socket.closed, watching.ended, run.ended]);
    held.open();
    expect(told(await waiting)).to.deep.equal([404, 'SESSION_NOT_FOUND']);
    expect(JSON.stringify([socket.frames, run.events, watching.events])).not.to.include('secret of');
    expect(told(await send('again', ben, sessionId))).to.deep.equal([404, 'SESSION_NOT_FOUND']);
  });

  it('ends what is about to be opened by it, however little it is behind', async () => {
    let meanwhile: () => Promise<unknown> = async () => {};
    const { url, send, shared, unshare } = await begin({
      sessionAccess: async (_user, { via }, operation) => {
        if (via && operation === 'events') await meanwhile();
        return true;
      },
    });
    await send('hi');
    const { sessionId, grantId } = await shared({ with: { userId: 'ben' }, as: 'viewer' });
    const stream = await openStream(`${url}/events`, { headers: ben });
    const { data } = await stream.until(({ event }) => event === 'connected');
    meanwhile = () => unshare(grantId);
    const { connectionId } = data;
    expect(told(await post(`${url}/subscribe`, { connectionId, add: [sessionId] }, ben))).to.deep.equal([
      404,
      'SESSION_NOT_FOUND',
    ]);
    await send('after');
    const { body } = await post(`${url}/subscribe`, { connectionId }, ben);
    expect(body.subscriptions).to.deep.equal([]);
    expect(JSON.stringify(stream.events)).not.to.include('after');
  });

  it('ends what is open where its time is over, too', async () => {
    const { url, send, shared } = await begin();
    await send('hi');
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'viewer', expiresInMs: 300 });
    const stream = await openStream(`${url}/events?sessionId=${sessionId}`, { headers: ben });
    await stream.until(({ event }) => event === 'heartbeat');
    await stream.ended;
    expect(told(await get(`${url}/events?sessionId=${sessionId}`, ben))).to.deep.equal([
      404,
      'SESSION_NOT_FOUND',
    ]);
  });
});

describeEndings('one memory', async () => {
  const hub = new MemoryHub();
  return [hub.node().store, hub.node().store];
});

describe('a grant that is taken back at another gateway', () => {
  it('ends there within limits.revalidateMs where nobody was told', async () => {
    const hub = new MemoryHub();
    const here = await begin({ store: hub.node().store, limits: { revalidateMs: 200 } });
    const there = await begin({ store: hub.node().store, limits: { revalidateMs: 200 } });
    await here.send('hi');
    const { sessionId, grantId } = await here.shared({ with: { userId: 'ben' }, as: 'viewer' });
    const stream = await openStream(`${there.url}/events?sessionId=${sessionId}`, { headers: ben });
    await stream.until(({ event }) => event === 'heartbeat');
    hub.mail = () => 'lose';
    void here.unshare(grantId);
    await stream.ended;
  });
});

describe('a link that is taken back', () => {
  it('ends the streams of its guests, who are not let in again', async () => {
    const { url, send, shared, unshare } = await begin({ shareLinks: true });
    await send('hi');
    const { sessionId, grantId, token } = await shared({ with: { link: true }, as: 'viewer' });
    const following = await openStream(`${url}/events?sessionId=${sessionId}`, { headers: as(token!) });
    const idle = await openWebSocket(url);
    await idle.connect({ token });
    await following.until(({ event }) => event === 'heartbeat');
    await unshare(grantId);
    await Promise.all([following.ended, idle.closed]);
    for (const path of [`events?sessionId=${sessionId}`, `history?sessionId=${sessionId}`, 'status'])
      expect(told(await get(`${url}/${path}`, as(token!))), path).to.deep.equal([401, 'UNAUTHENTICATED']);
    expect((await post(`${url}/ticket`, {}, as(token!))).status).to.equal(401);
  });
});
