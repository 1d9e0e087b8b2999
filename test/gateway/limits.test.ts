import { expect } from 'chai';
import { defineApp, method } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { get, post, startGateway } from '../support/gateway.js';
import { Hearing } from '../support/hearing.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const expectLimited = (answer: Awaited<ReturnType<typeof post>>, code: string): void => {
  expect(answer.status).to.equal(429);
  expect(answer.body.error).to.include({ code, retryable: true });
  expect(answer.body.error.retryAfterMs).to.be.above(0);
  expect(Number(answer.headers.get('retry-after'))).to.equal(
    Math.max(1, Math.ceil(answer.body.error.retryAfterMs / 1000)),
  );
};

describe('limits', () => {
  it('connectionsPerUser: the 33rd stream is TOO_MANY_CONNECTIONS, another user is not affected, a closed one makes room', async () => {
    const { gateway, url } = await startGateway({ app: echo, auth: byName });
    const disconnected = new Hearing(gateway, 'client:disconnected');
    const streams = await Promise.all(
      Array.from({ length: 32 }, () => openStream(`${url}/events`, { headers: as('alice') })),
    );
    expectLimited(await get(`${url}/events`, as('alice')), 'TOO_MANY_CONNECTIONS');
    expect((await openStream(`${url}/events`, { headers: as('bob') })).response.status).to.equal(200);
    streams[0]!.close();
    await disconnected.nth();
    expect((await openStream(`${url}/events`, { headers: as('alice') })).response.status).to.equal(200);
  });

  it('sendsPerSecond: a burst of twice the rate passes, then RATE_LIMITED, for this user alone', async () => {
    const { url } = await startGateway({ app: echo, auth: byName, limits: { sendsPerSecond: 0.5 } });
    expect((await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'))).status).to.equal(
      200,
    );
    expectLimited(
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice')),
      'RATE_LIMITED',
    );
    expectLimited(
      await post(`${url}/channel`, { sessionId: 'main', channel: 'c', payload: 1 }, as('alice')),
      'RATE_LIMITED',
    );
    expect((await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('bob'))).status).to.equal(200);
    expect((await get(`${url}/history?sessionId=main`, as('alice'))).body.messages).to.have.length(2);
  });

  it('sendsPerSecond: a repeated key is no new send', async () => {
    const { url } = await startGateway({ app: echo, auth: byName, limits: { sendsPerSecond: 0.5 } });
    const body = { sessionId: 'main', message: 'hi', idempotencyKey: 'k' };
    const first = await post(`${url}/send`, body, as('alice'));
    const again = await post(`${url}/send`, body, as('alice'));
    expect(again.status).to.equal(200);
    expect(again.body.runId).to.equal(first.body.runId);
  });

  it('invokesPerSecond: RATE_LIMITED with Retry-After', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: byName,
      methods: { ping: async () => 1 },
      limits: { invokesPerSecond: 0.5 },
    });
    const ping = (name: string) => post(`${url}/invoke`, { method: 'ping' }, as(name));
    expect((await ping('alice')).body).to.equal(1);
    expectLimited(await ping('alice'), 'RATE_LIMITED');
    expect((await ping('bob')).body).to.equal(1);
  });

  it('queueLength: a full queue is QUEUE_FULL and takes messages again later', async () => {
    const { app, held, began } = heldApp();
    const { url } = await startGateway({ app, limits: { queueLength: 1 } });
    const send = () => post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
    expect((await send()).body.position).to.equal(0);
    await began.passed;
    const second = await send();
    expect(second.body.position).to.equal(1);
    const third = await send();
    expect(third.status).to.equal(429);
    expect(third.body.error).to.include({ code: 'QUEUE_FULL', retryable: true });
    expect(third.headers.get('retry-after')).to.match(/^\d+$/);
    held.open();
    await (
      await openStream(`${url}/events?sessionId=main&from=earliest`, {
        headers: { authorization: `Bearer a-test-token-of-more-than-32-bytes` },
      })
    ).until(({ event, data }) => event === 'message_end' && data.runId === second.body.runId);
    expect((await send()).status).to.equal(202);
  });

  it('sessionsPerUser: one more session is refused, an open one goes on, a closed one makes room', async () => {
    const { url } = await startGateway({ app: echo, auth: byName, limits: { sessionsPerUser: 2 } });
    const send = (sessionId: string, name = 'alice') =>
      post(`${url}/send`, { sessionId, message: 'hi' }, as(name));
    expect((await send('a')).status).to.equal(200);
    expect((await send('b')).status).to.equal(200);
    const refused = await send('c');
    expect(refused.status).to.equal(429);
    expect(refused.body.error).to.include({ code: 'RATE_LIMITED' });
    // No waiting closes a session.
    expect(refused.body.error).not.to.have.property('retryAfterMs');
    expect(refused.headers.get('retry-after')).to.equal(null);
    expect((await send('a')).status).to.equal(200);
    expect((await send('c', 'bob')).status).to.equal(200);
    await post(`${url}/close`, { sessionId: 'a' }, as('alice'));
    expect((await send('c')).status).to.equal(200);
  });

  it('methodMs: a method that takes longer is TIMEOUT with 504, and its signal is aborted', async () => {
    let aborted: Promise<unknown> = Promise.resolve();
    const { url } = await startGateway({
      app: echo,
      limits: { methodMs: 10 },
      methods: {
        slow: method({
          handler: (_params, { signal }) => {
            aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
            return new Promise<never>(() => {});
          },
        }),
        own: method({ timeoutMs: 5, handler: () => new Promise<never>(() => {}) }),
      },
    });
    for (const name of ['slow', 'own']) {
      const { status, body } = await post(`${url}/invoke`, { method: name });
      expect(status).to.equal(504);
      expect(body.error.code).to.equal('TIMEOUT');
    }
    await aborted;
  });

  it('runMs: a run that takes longer ends as timeout', async () => {
    const app = defineApp({
      async *run() {
        yield 'a';
        await new Promise(() => {});
      },
    });
    const { url, log } = await startGateway({ app, limits: { runMs: 20 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(body).to.include({ stopReason: 'timeout' });
    expect(body.error).to.deep.equal({ code: 'TIMEOUT', message: 'The app took longer than 20 ms' });
    expect(log.lines.map(({ level, message }) => `${level}: ${message}`)).to.deep.equal([
      'warn: a run has timed out',
    ]);
    expect(log.lines[0]!.details).to.include({
      ...{ runId: body.runId, sessionId: 'main', app: 'default', user: 'token' },
      ...{ reason: 'The app took longer than 20 ms', option: 'limits.runMs' },
    });
    expect(body.message.content).to.deep.equal([{ type: 'text', text: 'a' }]);
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'idle' });
  });

  it('waitMs: a wait for a person that takes longer ends the run as timeout', async () => {
    const app = defineApp({ run: async (turn) => String(await turn.ask({ name: 'q' })) });
    const { url, log } = await startGateway({ app, limits: { waitMs: 20 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(body).to.include({ stopReason: 'timeout' });
    expect(log.lines.map(({ message }) => message)).to.deep.equal(['a run has timed out']);
    expect(log.lines[0]!.details).to.include({ runId: body.runId, option: 'limits.waitMs' });
    expect(body.error).to.deep.equal({ code: 'TIMEOUT', message: 'Nobody answered within 20 ms' });
  });

  it('heartbeatMs: heartbeats carry the cursor of a quiet stream', async () => {
    const { url } = await startGateway({ app: echo, auth: byName, limits: { heartbeatMs: 10 } });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    const beats = (): number => stream.events.filter(({ event }) => event === 'heartbeat').length;
    await stream.until(() => beats() >= 3);
    const { id, data } = stream.events.findLast(({ event }) => event === 'heartbeat')!;
    expect(id).to.equal(body.cursor);
    expect(data).to.include({ sessionId: 'main', cursor: body.cursor });
  });

  it('streamMs: a stream ends by itself with retry, and is resumed exactly', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: byName,
      limits: { streamMs: 50, heartbeatMs: 20 },
    });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('alice') });
    await stream.ended;
    expect(stream.retryMs).to.be.within(100, 1000);
  });

  it('retention.events: an old cursor is answered with gap, then snapshot, and messages are kept', async () => {
    const { url } = await startGateway({ app: echo, auth: byName, limits: { retention: { events: 5 } } });
    const first = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'one' },
      { ...as('alice'), prefer: 'respond-async' },
    );
    for (const message of ['two', 'three', 'four'])
      await post(`${url}/send`, { sessionId: 'main', message }, as('alice'));
    const stream = await openStream(`${url}/events?sessionId=main`, {
      headers: { ...as('alice'), 'last-event-id': first.body.cursor },
    });
    const snapshot = await stream.until(({ event }) => event === 'snapshot');
    const types = stream.events.map(({ event }) => event);
    expect(types.slice(0, 4)).to.deep.equal(['connected', 'heartbeat', 'gap', 'snapshot']);
    expect(stream.events[2]!.data).to.include({ reason: 'evicted', requested: first.body.cursor });
    expect(snapshot.data.sessionId).to.equal('main');
    expect((await get(`${url}/history?sessionId=main`, as('alice'))).body.messages).to.have.length(8);
  });
});
