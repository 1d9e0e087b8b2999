import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { heldApp } from '../support/apps.js';
import { failure } from '../support/client.js';
import { embedGateway } from '../support/embedded.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { type Fate, HOSTILE_METHODS, hostileStore } from '../support/hostile-store.js';

const app = defineApp({ run: (turn) => `re: ${turn.text}` });
const known = { message: 'first', idempotencyKey: 'known' };

interface Answer {
  readonly status: number;
  readonly body: any;
}

/** Everything a caller can ask about a session that this gateway has not heard of yet. */
const OPERATIONS: Readonly<
  Record<string, (url: string, sessionId: string, runId: string) => Promise<Answer>>
> = {
  send: (url, sessionId) => post(`${url}/send`, { sessionId, message: 'x' }),
  'send to a new session': (url, sessionId) =>
    post(`${url}/send`, { sessionId: `${sessionId}-new`, message: 'x' }),
  'send under a new key': (url, sessionId) =>
    post(`${url}/send`, { sessionId, message: 'x', idempotencyKey: 'k' }),
  'send under a known key': (url, sessionId) => post(`${url}/send`, { sessionId, ...known }),
  'send under a key of a conversation before': async (url, sessionId) => {
    await post(`${url}/close`, { sessionId });
    return post(`${url}/send`, { sessionId, ...known });
  },
  abort: (url, sessionId) => post(`${url}/abort`, { sessionId }),
  close: (url, sessionId) => post(`${url}/close`, { sessionId }),
  channel: (url, sessionId) => post(`${url}/channel`, { sessionId, channel: 'c', payload: 1 }),
  update: (url, sessionId) => post(`${url}/update`, { sessionId, title: 'x' }),
  'tool-response': (url, sessionId) =>
    post(`${url}/tool-response`, { sessionId, callId: 'c', approved: true }),
  history: (url, sessionId) => get(`${url}/history?sessionId=${sessionId}`),
  status: (url, sessionId) => get(`${url}/status?sessionId=${sessionId}`),
  run: (url, sessionId, runId) => get(`${url}/run?sessionId=${sessionId}&runId=${runId}`),
  sessions: (url) => get(`${url}/sessions`),
  events: async (url, sessionId) => {
    const abort = new AbortController();
    const where = `${url}/events?sessionId=${sessionId}&from=snapshot&token=${TOKEN}`;
    const response = await fetch(where, { signal: abort.signal });
    const body = response.ok ? undefined : await response.json();
    abort.abort();
    return { status: response.status, body };
  },
};

describe('a store that refuses a call', () => {
  it('is no failure of the gateway, whatever was asked of it: callers are told 503', async () => {
    let refused: string | null = null;
    const { store } = hostileStore(memoryStore(), (method): Fate => (method === refused ? 'refuse' : 'do'));
    const limits = { retention: { events: 4 }, sendsPerSecond: Number.POSITIVE_INFINITY };
    const before = await startGateway({ app, store, limits });
    const cells = HOSTILE_METHODS.flatMap((method) =>
      Object.keys(OPERATIONS).map((operation, at) => ({ method, operation, id: `${method}-${at}` })),
    );
    const runs = new Map<string, string>();
    for (const { id } of cells) {
      const first = await post(`${before.url}/send`, { sessionId: id, ...known });
      runs.set(id, first.body.runId);
      await post(`${before.url}/send`, { sessionId: id, message: 'second' });
    }
    const { url } = await startGateway({ app, store, limits });
    const failures: string[] = [];
    for (const { method, operation, id } of cells) {
      refused = method;
      const { status, body } = await OPERATIONS[operation]!(url, id, runs.get(id)!);
      refused = null;
      if (status >= 500 && body?.error?.code !== 'OVERLOADED')
        failures.push(`${method} refused, ${operation}: ${status} ${body?.error?.code}`);
    }
    expect(failures).to.deep.equal([]);
  });

  it('because it is not known what became of another has not taken it: that is known', async () => {
    const { app: talking, held } = heldApp('one', 'two');
    let fate: Fate = 'do';
    const hostile = hostileStore(memoryStore(), (method) => (method === 'append' ? fate : 'do'));
    const session = embedGateway({ app: talking, store: hostile.store }).session('main');
    const first = session.send('first');
    await first.accepted;
    fate = 'drop';
    held.open();
    while (!hostile.met.has('append drop')) await new Promise(setImmediate);
    const refusal = await failure(session.send('second').accepted);
    fate = 'do';
    await first.result;
    expect(refusal).to.include({ code: 'OVERLOADED' });
    expect(refusal.details, 'nothing was done').to.equal(undefined);
    expect((await session.history()).messages).to.have.length(2);
  });
});
