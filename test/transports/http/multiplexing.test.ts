import { expect } from 'chai';
import { echo } from '../../support/apps.js';
import { post, startGateway, TOKEN } from '../../support/gateway.js';
import { openStream, type RawStream } from '../../support/sse-client.js';

const headers = { authorization: `Bearer ${TOKEN}` };

async function start(query = '') {
  const { url } = await startGateway({ app: echo, limits: { sendsPerSecond: 1000, heartbeatMs: 40 } });
  const open = (search: string, more = {}): Promise<RawStream> =>
    openStream(`${url}/events?${search}`, { headers: { ...headers, ...more } });
  const stream = await open(query);
  const { data } = await stream.until(({ event }) => event === 'connected');
  const { connectionId } = data as { connectionId: string };
  const subscribe = (body: Record<string, unknown>) => post(`${url}/subscribe`, { connectionId, ...body });
  const send = async (sessionId: string, message = 'hi') =>
    (await post(`${url}/send`, { sessionId, message })).body;
  return { url, open, stream, connectionId, subscribe, send };
}

const of = (stream: RawStream, sessionId: string) =>
  stream.logged.filter(({ data }) => data.sessionId === sessionId);
const ended =
  (runId: string) =>
  ({ event, data }: { event: string; data: any }) =>
    event === 'message_end' && data.runId === runId;
const seqOf = (cursor: string): number => Number(cursor.split('.')[2]);

describe('one stream of several sessions', () => {
  it('carries each session whole and in order, named in the data', async () => {
    const { stream, send } = await start('sessionId=a&sessionId=b&sessionId=c');
    const runs = await Promise.all(['a', 'b', 'c', 'a', 'b'].map((id) => send(id)));
    for (const { runId } of runs) await stream.until(ended(runId));
    for (const [id, count] of [
      ['a', 10],
      ['b', 10],
      ['c', 5],
    ] as const) {
      expect(of(stream, id).map(({ data }) => seqOf(data.cursor))).to.deep.equal(
        Array.from({ length: count }, (_, n) => n + 1),
      );
    }
    for (const event of stream.logged) expect(event).not.to.have.property('id');
  });

  it('heartbeats carry a vector as id, and the vector restores every session exactly', async () => {
    const { open, stream, send } = await start('sessionId=a&sessionId=b');
    const [a, b] = [await send('a'), await send('b')];
    await stream.until(ended(b.runId));
    const beat = await stream.until(
      ({ event, id }) => event === 'heartbeat' && id?.includes(a.cursor) === true && id.includes(b.cursor),
    );
    expect(beat.id).to.equal(`~a=${a.cursor},b=${b.cursor}`);
    stream.close();
    await send('a');
    const later = await send('b');
    const resumed = await open('sessionId=a&sessionId=b', { 'last-event-id': beat.id });
    const { data } = await resumed.until(({ event }) => event === 'connected');
    expect(data.sessions.a).to.include({ resume: 'exact', next: 6 });
    expect(data.sessions.b).to.include({ resume: 'exact', next: 6 });
    await resumed.until(ended(later.runId));
    await resumed.until(({ event, data: { sessionId } }) => event === 'message_end' && sessionId === 'a');
    for (const id of ['a', 'b'])
      expect(of(resumed, id).map(({ data: { cursor } }) => seqOf(cursor))).to.deep.equal([6, 7, 8, 9, 10]);
  });

  it('a vector restores sessions that were subscribed later and are not in the query', async () => {
    const { open, stream, subscribe, send } = await start();
    await subscribe({ add: ['late'] });
    const { cursor, runId } = await send('late');
    await stream.until(ended(runId));
    const beat = await stream.until(
      ({ event, id }) => event === 'heartbeat' && id?.includes(cursor) === true,
    );
    const missed = await send('late');
    const resumed = await open('', { 'last-event-id': beat.id });
    await resumed.until(ended(missed.runId));
    expect(seqOf(resumed.logged[0]!.data.cursor)).to.equal(6);
  });
});

describe('POST /subscribe', () => {
  it('add: answers the list, and in-band one subscribed before anything else of the session', async () => {
    const { stream, subscribe, send } = await start();
    await send('a');
    expect((await subscribe({ add: ['a'] })).body).to.deep.equal({ subscriptions: ['a'] });
    expect((await subscribe({ add: [{ sessionId: 'b', from: 'earliest' }] })).body).to.deep.equal({
      subscriptions: ['a', 'b'],
    });
    const { runId } = await send('a');
    await stream.until(ended(runId));
    const mine = stream.events.filter(({ data }) => data.sessionId === 'a');
    expect(mine[0]!.event).to.equal('subscribed');
    expect(mine[0]!.data).to.include({ sessionId: 'a', next: 6, head: 5, resume: 'new' });
    expect(seqOf(mine[1]!.data.cursor)).to.equal(6);
  });

  it('sessionId: the single form', async () => {
    const { url, stream, connectionId, send } = await start();
    const { status, body } = await post(`${url}/subscribe`, { connectionId, sessionId: 'a' });
    expect([status, body]).to.deep.equal([200, { subscriptions: ['a'] }]);
    const { runId } = await send('a');
    await stream.until(ended(runId));
  });

  it('add with a cursor continues there; with one that proves nothing it is a gap', async () => {
    const { stream, subscribe, send } = await start();
    const { cursor } = await send('a');
    const third = cursor.replace(/\d+$/, '3');
    await subscribe({ add: [{ sessionId: 'a', cursor: third }] });
    await stream.until(({ event }) => event === 'message_end');
    expect(of(stream, 'a').map(({ data }) => seqOf(data.cursor))).to.deep.equal([4, 5]);
    await subscribe({ add: [{ sessionId: 'a', cursor: 'nonsense' }] });
    await stream.until(({ event }) => event === 'snapshot');
    const types = stream.events.filter(({ data }) => data.sessionId === 'a').map(({ event }) => event);
    expect(types.slice(-3)).to.deep.equal(['subscribed', 'gap', 'snapshot']);
  });

  it('add of a session that is followed already repositions it', async () => {
    const { stream, subscribe, send } = await start('sessionId=a');
    const { runId } = await send('a');
    await stream.until(ended(runId));
    expect((await subscribe({ add: [{ sessionId: 'a', from: 'earliest' }] })).body).to.deep.equal({
      subscriptions: ['a'],
    });
    await stream.until(() => stream.logged.filter(({ event }) => event === 'message_end').length === 2);
    const at = stream.events.findIndex(({ event }) => event === 'subscribed');
    const after = stream.events
      .slice(at + 1)
      .filter(({ event, data }) => event !== 'heartbeat' && data.sessionId === 'a' && data.cursor);
    expect(after.map(({ data }) => seqOf(data.cursor))).to.deep.equal([1, 2, 3, 4, 5]);
    const again = await send('a');
    await stream.until(ended(again.runId));
    const later = of(stream, 'a').filter(({ data }) => seqOf(data.cursor) > 5);
    expect(later.map(({ data }) => seqOf(data.cursor))).to.deep.equal([6, 7, 8, 9, 10]);
  });

  it('remove: nothing more of it comes', async () => {
    const { stream, subscribe, send } = await start('sessionId=a&sessionId=b');
    expect((await subscribe({ remove: ['default:a'] })).body).to.deep.equal({ subscriptions: ['b'] });
    await send('a');
    const { runId } = await send('b');
    await stream.until(ended(runId));
    expect(of(stream, 'a')).to.deep.equal([]);
    expect((await subscribe({ remove: ['a', 'never'] })).body).to.deep.equal({ subscriptions: ['b'] });
  });

  it('snapshot on request comes after subscribed', async () => {
    const { stream, subscribe, send } = await start();
    const { cursor } = await send('a');
    await subscribe({ add: [{ sessionId: 'a', from: 'snapshot' }] });
    const { data } = await stream.until(({ event }) => event === 'snapshot');
    expect(data).to.include({ sessionId: 'a', cursor });
    expect(
      stream.events.filter((event) => event.data.sessionId === 'a').map(({ event }) => event),
    ).to.deep.equal(['subscribed', 'snapshot']);
  });

  it('an unknown connection, a closed one and the connection of a send are CONNECTION_NOT_FOUND', async () => {
    const { url, stream, connectionId } = await start();
    const code = async (id: string) =>
      (await post(`${url}/subscribe`, { connectionId: id, add: ['a'] })).body.error?.code;
    expect(await code('conn_none')).to.equal('CONNECTION_NOT_FOUND');
    stream.close();
    let answer: string | undefined;
    do answer = await code(connectionId);
    while (answer === undefined);
    expect(answer).to.equal('CONNECTION_NOT_FOUND');
  });

  it('at most 1,000 sessions a connection', async () => {
    const { subscribe } = await start();
    const ids = Array.from({ length: 1000 }, (_, n) => `s${n}`);
    expect((await subscribe({ add: ids })).status).to.equal(200);
    expect((await subscribe({ add: ['more'] })).status).to.equal(429);
    expect((await subscribe({ add: ['s1'], remove: ['s2'] })).status).to.equal(200);
  });
});
