import { expect } from 'chai';
import { getContext } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { gate } from '../support/gate.js';
import { get, jsonHeaders, post, startGateway, TOKEN } from '../support/gateway.js';
import { rawClient, requestText } from '../support/raw-client.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';

const users = {
  type: 'custom',
  validate: (token: string | undefined) => ({ valid: true, user: { id: token ?? 'nobody' } }),
} as const;

/** One person, not an identity that many share. */
const person = { type: 'token', token: TOKEN, user: { id: 'ada' } } as const;

describe('threat row 21: connections and rates', () => {
  it('refuses the 33rd stream of a user, and no other user', async () => {
    const { url } = await startGateway({ app: echo, auth: users });
    const open = (user: string) => openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders(user) });
    for (let i = 0; i < 32; i++) expect((await open('alice')).response.status).to.equal(200);
    const { response } = await open('alice');
    expect(response.status).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('5');
    expect((await open('bob')).response.status).to.equal(200);
  });

  it('counts streams of methods over every door, and lets go of those that end', async () => {
    const left = gate();
    let open = 0;
    const watch = async function* () {
      open += 1;
      try {
        yield 1;
        const { signal } = getContext();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      } finally {
        open -= 1;
        if (open === 0) left.open();
      }
    };
    const { url } = await startGateway({
      app: echo,
      auth: person,
      methods: { watch },
      limits: { streamsPerUser: 3 },
    });
    const stream = () =>
      openStream(`${url}/invoke`, { method: 'POST', headers: jsonHeaders(), body: '{"method":"watch"}' });
    const first = [await stream(), await stream()];
    await Promise.all(first.map((it) => it.until(({ event }) => event === 'chunk')));
    const socket = await openWebSocket(url);
    await socket.connect();
    socket.say({ type: 'req', id: '1', method: 'watch' });
    await socket.until(({ type }) => type === 'chunk');
    expect((await socket.ask('2', 'watch')).error.code).to.equal('TOO_MANY_CONNECTIONS');
    const { response } = await stream();
    expect(response.status).to.equal(429);
    // A plain call is no stream.
    expect((await socket.ask('3', 'status')).ok).to.equal(true);
    for (const it of first) it.close();
    socket.destroy();
    await left.passed;
    expect((await (await stream()).until(({ event }) => event === 'chunk')).data).to.equal(1);
  });

  it('counts those who wait for one run, also with one idempotency key', async () => {
    const { app, held, began } = heldApp();
    const { url } = await startGateway({
      app,
      auth: person,
      limits: { streamsPerUser: 4, sendsPerSecond: 1 },
    });
    const send = (accept: string): Promise<Response> =>
      fetch(`${url}/send`, {
        method: 'POST',
        headers: { ...jsonHeaders(), accept },
        body: JSON.stringify({ sessionId: 'main', message: 'x', idempotencyKey: 'k' }),
      });
    const waiting = send('application/json');
    await began.passed;
    const streams = [await send('text/event-stream'), await send('text/event-stream')];
    expect(streams.map(({ status }) => status)).to.deep.equal([200, 200]);
    const others = await Promise.all(Array.from({ length: 20 }, () => send('text/event-stream')));
    expect(others.filter(({ status }) => status === 200).length).to.equal(1);
    expect(others.filter(({ status }) => status === 429).length).to.equal(19);
    await Promise.all(others.filter(({ status }) => status === 429).map((it) => it.text()));
    held.open();
    expect((await waiting).status).to.equal(200);
    await Promise.all([...streams, ...others.filter(({ status }) => status === 200)].map((it) => it.text()));
    // All of them over: none is counted any more.
    expect((await send('application/json')).status).to.equal(200);
  });

  it('refuses bursts of messages and of calls with the time to wait', async () => {
    const { url } = await startGateway({
      app: echo,
      auth: person,
      methods: { ping: () => 1 },
      limits: { sendsPerSecond: 1, invokesPerSecond: 1 },
    });
    const headers = { prefer: 'respond-async' };
    for (const [path, body] of [
      ['/send', { sessionId: 'main', message: 'x' }],
      ['/invoke', { method: 'ping' }],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(url + path, body, headers)));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).to.be.within(4, 6);
      for (const it of refused) expect(Number(it.headers.get('retry-after'))).to.be.at.least(1);
    }
  });

  it('has a rate of subscribing, because each name costs memory', async () => {
    const { url } = await startGateway({ app: echo, auth: person, limits: { subscribesPerSecond: 1 } });
    const stream = await openStream(`${url}/events`, { headers: jsonHeaders() });
    const { connectionId } = (await stream.until(({ event }) => event === 'connected')).data;
    let previous: string[] = [];
    const names = (round: number): string[] => Array.from({ length: 1000 }, (_, i) => `s${round}-${i}`);
    for (let round = 0; round < 3; round++) {
      const { status } = await post(`${url}/subscribe`, {
        connectionId,
        add: names(round),
        remove: previous,
      });
      expect(status).to.equal(200);
      previous = names(round);
    }
    const { status, body } = await post(`${url}/subscribe`, {
      connectionId,
      add: names(9),
      remove: previous,
    });
    expect([status, body.error.code]).to.deep.equal([429, 'RATE_LIMITED']);
    // Another operation is not held up by it.
    expect((await get(`${url}/status`)).status).to.equal(200);
  });

  it('holds a connection to its 1,000 sessions, however many requests ask at the same time', async () => {
    const { url } = await startGateway({
      app: echo,
      limits: { subscribesPerSecond: 1e6 },
      sessionAccess: async () => {
        await new Promise(setImmediate);
        return true;
      },
    });
    const stream = await openStream(`${url}/events`, { headers: jsonHeaders() });
    const { connectionId } = (await stream.until(({ event }) => event === 'connected')).data;
    const answers = await Promise.all(
      [0, 1, 2].map((round) =>
        post(`${url}/subscribe`, {
          connectionId,
          add: Array.from({ length: 600 }, (_, i) => `s${round}-${i}`),
        }),
      ),
    );
    expect(answers.some(({ body }) => body.error?.code === 'QUEUE_FULL')).to.equal(true);
    const { body } = await post(`${url}/subscribe`, { connectionId, remove: ['none'] });
    expect(body.subscriptions.length).to.be.at.most(1000);
  });

  it('keeps idle connections longer than proxies keep theirs', async () => {
    const { url } = await startGateway({ app: echo });
    const client = rawClient(url);
    client.socket.write(requestText('GET /status'));
    const [, seconds] = await client.until(/keep-alive: timeout=(\d+)/i);
    expect(Number(seconds)).to.be.greaterThan(60);
  });
});
