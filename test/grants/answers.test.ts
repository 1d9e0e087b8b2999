import { expect } from 'chai';
import { GRANT_ROLES, HIDDEN_PARTS } from '../../shared/grants.js';
import { OPERATIONS } from '../../shared/operations.js';
import { get, jsonHeaders, post } from '../support/gateway.js';
import { openWebSocket } from '../support/raw-socket.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { as } from '../support/users.js';
import { begin, SECRETS } from './cast.js';
import { type Asked, paramsOf } from './matrix.js';

/** The key of the owner's session, which no holder of a grant is told. */
const KEY = 'a-secret-key';

/** Ann's session with an answer of everything, a question that waits and a queued message, and a grant of it that hides all. */
async function beginHidden(to: 'user' | 'link') {
  const started = await begin({
    methods: { ping: async () => 'pong' },
    shareLinks: { upTo: 'operator' },
    notify: { on: ['run_ended', 'input_required'], unseenMs: 0, deliver: () => {} },
    clientMessages: { import: true },
    limits: { sendsPerSecond: 10_000, readsPerSecond: 10_000, subscribesPerSecond: 10_000 },
  });
  const { url, share, send, ann } = started;
  const message = { role: 'user', content: 'think', metadata: { note: SECRETS.metadata } };
  const metadata = { note: SECRETS.metadata };
  const keyed = { sessionId: KEY, message, metadata, idempotencyKey: 'of-ann' };
  const { body: first } = await post(`${url}/send`, keyed, ann);
  await post(`${url}/update`, { sessionId: KEY, title: 'A title', metadata }, ann);
  const stream = await openStream(`${url}/events?sessionId=${KEY}&from=now`, { headers: ann });
  await stream.until(({ event }) => event === 'heartbeat');
  void send('pay', ann, KEY);
  const { data: asked } = await stream.until(({ event }) => event === 'tool_confirmation_required');
  await post(`${url}/send`, { sessionId: KEY, message, metadata }, { ...ann, prefer: 'respond-async' });
  const { body } = await share(
    { with: to === 'link' ? { link: true } : { userId: 'ben' }, as: GRANT_ROLES.at(-1)!, hide: HIDDEN_PARTS },
    ann,
    KEY,
  );
  return {
    ...started,
    keyed,
    callId: asked.callId,
    runId: first.runId,
    messageId: (await get(`${url}/history?sessionId=${KEY}`, ann)).body.messages[0].id,
    sessionId: body.grant.sessionId,
    token: body.token ?? 'ben',
  };
}

type Started = Awaited<ReturnType<typeof beginHidden>>;
/** Asks an operation, and gets all bytes of the answer. */
type Ask = (
  name: Asked | 'sessions' | 'inbox' | 'push' | 'apps',
  params: object,
) => Promise<{ readonly text: string; readonly isGood: boolean }>;

const DOORS: Readonly<
  Record<string, (started: Started) => Promise<{ readonly ask: Ask; readonly connectionId: string }>>
> = {
  async http({ url, token }) {
    const stream = await openStream(`${url}/events`, { headers: as(token) });
    const { data } = await stream.until(({ event }) => event === 'connected');
    const ask: Ask = async (name, params) => {
      const isRead = name === 'events' || OPERATIONS[name].http === 'GET';
      const path = name === 'events' ? '/history' : OPERATIONS[name].path;
      const response = isRead
        ? await fetch(`${url}${path}?${new URLSearchParams(params as Record<string, string>)}`, {
            headers: as(token),
          })
        : await fetch(`${url}${path}`, {
            ...{ method: 'POST', body: JSON.stringify(params) },
            headers: { ...jsonHeaders(token), accept: 'application/json', prefer: 'respond-async' },
          });
      return { text: await response.text(), isGood: response.status < 300 };
    };
    return { ask, connectionId: data.connectionId };
  },
  async webSocket({ url, token }) {
    const socket = await openWebSocket(url);
    await socket.connect({ token });
    let count = 0;
    const ask: Ask = async (name, { connectionId: _, ...params }: { readonly connectionId?: string }) => {
      const before = socket.texts.length;
      const { ok } = await socket.ask(`${++count}`, name === 'events' ? 'subscribe' : name, params);
      return { text: socket.texts.slice(before).join(), isGood: ok };
    };
    return { ask, connectionId: '' };
  },
};

describe('a grant that hides everything', () => {
  for (const to of ['user', 'link'] as const)
    for (const [door, open] of Object.entries(DOORS))
      it(`shows none of it, nor the owner’s key, in the answer of any operation: a ${to}, by ${door}`, async () => {
        const started = await beginHidden(to);
        const { sessionId, url, ann, keyed, callId, runId, messageId } = started;
        const { ask, connectionId } = await open(started);
        const asked = new Set<string>();
        const good = new Set<string>();
        const search = async (name: Parameters<Ask>[0], params: object): Promise<void> => {
          const { text, isGood } = await ask(name, params);
          asked.add(name);
          if (isGood) good.add(name);
          for (const secret of [...Object.values(SECRETS), KEY])
            expect(text, `${secret} in the answer of ${name}`).not.to.include(String(secret));
        };
        const idle = () =>
          until(async () => (await get(`${url}/status?sessionId=${KEY}`, ann)).body.status === 'idle');
        const all = paramsOf(sessionId, connectionId);
        const real: Partial<Record<Asked, object>> = {
          run: { sessionId, runId },
          react: { sessionId, messageId, value: 'up', comment: 'good' },
          retract: { sessionId, messageId: 'none' },
          share: {
            sessionId,
            with: to === 'link' ? { link: true } : { userId: 'dee' },
            as: 'viewer',
            hide: HIDDEN_PARTS,
          },
          move: { sessionId, tip: messageId },
          'tool-response': { sessionId, callId, approved: true },
          subscribe: { connectionId, add: [{ sessionId, from: 'snapshot' }] },
        };
        for (const list of ['sessions', 'inbox', 'push', 'apps'] as const)
          await search(list, list === 'sessions' ? { shared: true } : {});
        // A message of the owner's, by its key, and one of the caller's own while there is a queue.
        await search('send', { ...keyed, sessionId });
        await search('send', { sessionId, message: keyed.message });
        for (const name of ['history', 'status', 'run', 'subscribe', 'presence', 'tool-response'] as const)
          await search(name, real[name] ?? all[name]);
        await idle();
        await search('regenerate', { sessionId });
        await idle();
        await search('regenerate', { sessionId, messageId });
        await idle();
        for (const name of Object.keys(all) as Asked[]) {
          if (door === 'webSocket' && name === 'export') continue;
          await search(name, real[name] ?? all[name]);
        }
        await search('notices', { sessionId });
        expect([...asked]).to.include.members(
          Object.keys(all).filter((name) => door === 'http' || name !== 'export'),
        );
        expect([...good]).to.include.members([
          ...['sessions', 'history', 'status', 'run', 'send', 'regenerate', 'move', 'react', 'tool-response'],
          ...[
            'schedules',
            'notices',
            'grants',
            'share',
            'take-over',
            'hand-back',
            'presence',
            'subscribe',
            'invoke',
          ],
        ]);
        // What is searched for is there for its owner.
        const own = await (
          await fetch(`${url}/export?sessionId=${KEY}&what=events`, { headers: ann })
        ).text();
        for (const secret of Object.values(SECRETS)) expect(own).to.include(String(secret));
      });
});
