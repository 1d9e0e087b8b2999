import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { OPERATIONS } from '../../shared/operations.js';
import { echo } from '../support/apps.js';
import { get, post, startGateway } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const connected = (stream: RawStream) => stream.until(({ event }) => event === 'connected');
const heartbeat = (stream: RawStream) => stream.until(({ event }) => event === 'heartbeat');

describe('row 24: secrets', () => {
  it('are in no answer, no event and no log line, whatever fails', async () => {
    const secret = randomBytes(24).toString('base64url');
    const told: unknown[] = [];
    const { url, log, gateway } = await startGateway({
      app: defineApp({ run: async () => expect.fail('the app fails') }),
      auth: {
        type: 'custom',
        cookies: false,
        validate: async (token) => {
          if (token?.endsWith('throw')) throw new Error(`cannot read ${token}`);
          return token === secret ? { valid: true, user: { id: 'ada' } } : { valid: false };
        },
      },
      methods: { fail: async () => expect.fail('the method fails') },
    });
    for (const event of ['caller:refused', 'address:blocked', 'origin:refused', 'error'] as const)
      gateway.on(event, (payload) => told.push(payload));
    const answers: unknown[] = [];
    for (const token of [secret, `${secret}x`, `${secret}throw`]) {
      const authorization = `Bearer ${token}`;
      for (const { http, path } of Object.values(OPERATIONS)) {
        const ask =
          http === 'GET'
            ? get(url + path, { authorization })
            : post(url + path, { method: 'fail' }, { authorization });
        const { body, headers } = await ask;
        answers.push(body, [...headers]);
      }
      answers.push((await get(`${url}/events?token=${token}&from=nonsense`, { authorization: '' })).body);
      answers.push((await get(`${url}/status`, { authorization, origin: 'https://evil.test' })).body);
    }
    const socket = await openWebSocket(url);
    socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: `${secret}x` });
    await socket.closed;
    const all = [answers, log.lines, told, socket.frames].map((it) => JSON.stringify(it, shown)).join();
    expect(all).not.to.include(secret);
    expect(log.lines.length).to.be.above(2);
  });

  it('do not travel on in a Referer, nor are kept in a cache', async () => {
    const { url } = await startGateway({ app: echo });
    const stream = await openStream(`${url}/events?token=a-test-token-of-more-than-32-bytes`);
    for (const { headers } of [await get(`${url}/status`), await get(`${url}/nowhere`), stream.response]) {
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cache-control')).to.match(/no-store|no-cache/);
    }
  });
});

describe('row 24: tickets', () => {
  const start = async () => {
    const started = await startGateway({ app: echo, auth: byName, limits: { heartbeatMs: 20 } });
    const { body } = await post(`${started.url}/ticket`, {}, as('alice'));
    return { ...started, ticket: body.ticket as string };
  };

  it('open one stream, and are nothing on other doors', async () => {
    const { url, ticket } = await start();
    for (const [name, { http, path }] of Object.entries(OPERATIONS)) {
      const answer =
        http === 'GET' ? await get(url + path, as(ticket)) : await post(url + path, {}, as(ticket));
      // `byName` takes any token for a name: what matters is that it is not alice's.
      expect(JSON.stringify(answer.body ?? ''), name).not.to.include('alice');
    }
    await connected(await openStream(`${url}/events?sessionId=main&token=${ticket}`));
    const second = await get(`${url}/events?sessionId=main&token=${ticket}`, { authorization: '' });
    expect([second.status, second.body.error.code]).to.deep.equal([401, 'UNAUTHENTICATED']);
  });

  it('serve one stream at a time: who resumes takes the place of the former', async () => {
    const { url, ticket } = await start();
    const at = `${url}/events?sessionId=main&token=${ticket}`;
    const first = await openStream(at);
    const { id } = await heartbeat(first);
    const second = await openStream(at, { headers: { 'last-event-id': id! } });
    await Promise.all([first.ended, connected(second)]);
    const third = await openStream(`${at}&lastEventId=anything`);
    await Promise.all([second.ended, connected(third)]);
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    await third.until(({ event }) => event === 'message_end');
    for (const { logged } of [first, second]) expect(logged).to.deep.equal([]);
  });

  it('resume their own sessions only, the ones that were added later included', async () => {
    const { url, ticket } = await start();
    const stream = await openStream(`${url}/events?sessionId=main&sessionId=notes&token=${ticket}`);
    const { connectionId } = (await connected(stream)).data;
    await post(`${url}/subscribe`, { connectionId, sessionId: 'later' }, as('alice'));
    await stream.until(({ event }) => event === 'subscribed');
    const { id } = await stream.until(
      ({ event, id }) => event === 'heartbeat' && id !== undefined && id.includes('later'),
    );
    const resume = (query: string, headers = {}) =>
      get(`${url}/events?${query}&token=${ticket}`, { authorization: '', ...headers });
    for (const answer of [
      await resume('sessionId=private&lastEventId=anything'),
      await resume('sessionId=main&sessionId=private', { 'last-event-id': id! }),
      await resume('sessionId=main&sessionId=notes', { 'last-event-id': `${id},private=` }),
    ]) {
      expect(answer.status).to.equal(401);
    }
    const again = await openStream(`${url}/events?sessionId=main&sessionId=notes&token=${ticket}`, {
      headers: { 'last-event-id': id! },
    });
    expect(Object.keys((await connected(again)).data.sessions)).to.have.members(['main', 'notes', 'later']);
  });
});

/** Errors have no enumerable fields of their own. */
function shown(_key: string, value: unknown): unknown {
  return value instanceof Error ? [value.name, value.message, value.stack, value.cause] : value;
}
