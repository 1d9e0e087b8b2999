import { expect } from 'chai';
import { defineApp, type Oversight } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import { OPERATIONS, type OperationName } from '../../shared/operations.js';
import { paramsOf } from '../grants/matrix.js';
import { connectClient, takeUntil } from '../support/client.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

const SECRET = 'what-two-people-know';
/** The operations that are asked about a session over HTTP. */
const ASKED = (Object.keys(paramsOf('', '')) as OperationName[]).filter(
  (name) => name in OPERATION_WORDS && name !== 'subscribe' && name !== 'presence',
);

const echo = defineApp({
  run({ text }) {
    if (text === 'break') throw new Error('broken');
    return `You say ${text}`;
  },
});

/** Ann and Bea of one tenant and Cem of another have sessions; Sue may read those of the first tenant, Max all, Mal none. */
async function begin(given: { readonly oversight?: Oversight | undefined } = {}) {
  const oversight: Oversight = ({ id }, session) =>
    id === 'max' || (id === 'sue' && (session === undefined || session.owner?.tenantId === 'one'));
  const { url, gateway } = await startGateway({
    ...{ apps: { helper: echo, writer: echo }, defaultApp: 'helper', auth: byName, oversight, ...given },
    ...{ shareLinks: { upTo: 'operator' }, methods: { ping: async () => 'pong' } },
    limits: { sendsPerSecond: 10_000, readsPerSecond: 10_000 },
  });
  const send = async (token: string, sessionId: string) =>
    expect((await post(`${url}/send`, { sessionId, message: SECRET }, as(token))).status).to.equal(200);
  await send('one/ann', 'main');
  await send('one/bea', 'writer:draft');
  await send('two/cem', 'main');
  const list = (token: string, query = '') => get(`${url}/sessions?all=true${query}`, as(token));
  const addressOf = async (id: string): Promise<string> =>
    (await list('max')).body.sessions.find(({ owner }: { owner: { id: string } }) => owner.id === id)
      .sessionId;
  return { url, gateway, send, list, addressOf };
}

async function ask(url: string, name: OperationName, sessionId: string, token: string) {
  const params = paramsOf(sessionId, 'none')[name];
  const { http, path } = OPERATIONS[name];
  const query = new URLSearchParams(params as Record<string, string>);
  const response =
    http === 'GET'
      ? await fetch(`${url}${path}?${query}`, { headers: as(token) })
      : await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { ...jsonHeaders(), ...as(token) },
          body: JSON.stringify(params),
        });
  return { status: response.status, text: await response.text() };
}

describe('the right to read the sessions of all users', () => {
  it('lists them, the one that was used last first, page by page, with their owners', async () => {
    const { list, send } = await begin();
    const owners = ({ body }: { readonly body: any }) =>
      body.sessions.map(({ owner, app }: any) => `${owner.tenantId}/${owner.id} ${app}`);
    expect(owners(await list('max'))).to.deep.equal([
      ...['two/cem helper', 'one/bea writer', 'one/ann helper'],
    ]);
    await send('one/ann', 'main');
    const first = await list('max', '&limit=2');
    expect(owners(first)).to.deep.equal(['one/ann helper', 'two/cem helper']);
    const rest = await list('max', `&limit=2&before=${first.body.cursor}`);
    expect(owners(rest)).to.deep.equal(['one/bea writer']);
    expect(rest.body.cursor).to.equal(null);
    expect(owners(await list('max', '&app=writer'))).to.deep.equal(['one/bea writer']);
    expect(owners(await list('max', '&status=running'))).to.deep.equal([]);
  });

  it('finds those whose last answer failed', async () => {
    const { url, list } = await begin();
    const failed = async () => (await list('max', '&failed=true')).body.sessions;
    expect(await failed()).to.deep.equal([]);
    await post(`${url}/send`, { sessionId: 'main', message: 'break' }, as('one/ann'));
    const [only, ...more] = await failed();
    expect(only).to.deep.include({ owner: { id: 'ann', tenantId: 'one' }, failed: true });
    expect(more).to.deep.equal([]);
    const own = await get(`${url}/sessions?failed=true`, as('one/ann'));
    expect(own.body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).to.deep.equal([
      'main',
    ]);
    await post(`${url}/send`, { sessionId: 'main', message: 'again' }, as('one/ann'));
    expect(await failed()).to.deep.equal([]);
  });

  it('is asked of each session, so that one tenant may be read alone', async () => {
    const { url, list, addressOf } = await begin();
    const { status, body } = await list('sue');
    expect(status).to.equal(200);
    expect(body.sessions.map(({ owner }: any) => owner.id)).to.deep.equal(['bea', 'ann']);
    for (const [id, expected] of Object.entries({ ann: 200, cem: 404 })) {
      const answer = await ask(url, 'history', await addressOf(id), 'sue');
      expect(answer.status, id).to.equal(expected);
    }
  });

  it('is told to those who have it, and refuses the list to all others, and where nobody has it', async () => {
    const { url, list } = await begin();
    const oversees = async (token: string) => (await get(`${url}/status`, as(token))).body.oversees;
    expect(await oversees('max')).to.equal(true);
    for (const token of ['mal', 'one/ann']) {
      expect(await oversees(token)).to.equal(undefined);
      expect(await list(token)).to.have.nested.property('body.error.code', 'ACCESS_DENIED');
    }
    const nobody = await begin({ oversight: undefined });
    expect((await nobody.list('max')).status).to.equal(403);
    const failing = await begin({ oversight: () => Promise.reject(new Error('no directory')) });
    expect((await failing.list('max')).status).to.equal(403);
  });

  it('reads and changes nothing, by every operation; to others, guests and owners too, there is no such session', async () => {
    const { url, addressOf } = await begin();
    const address = await addressOf('ann');
    const given = { sessionId: 'main', with: { link: true }, as: 'operator' };
    const { token: link } = (await post(`${url}/share`, given, as('one/ann'))).body;
    for (const name of ASKED) {
      const { status, text } = await ask(url, name, address, 'max');
      const isRead = OPERATION_WORDS[name].overseen === true;
      expect(status, `${name}: ${text}`).to.be.oneOf(isRead ? [200, 404] : [403]);
      if (status === 404) expect(text, name).to.include('RUN_NOT_FOUND');
      expect(text, name).to.not.include('"main"');
      for (const token of ['mal', 'one/ann', `${link}.one`]) {
        const refused = await ask(url, name, address, token);
        expect(refused.status, `${name} by ${token}: ${refused.text}`).to.equal(404);
        expect(refused.text).to.not.include(SECRET);
      }
    }
    const { messages } = (await get(`${url}/history?sessionId=main`, as('one/ann'))).body;
    expect(messages.map(textOf)).to.deep.equal([SECRET, `You say ${SECRET}`]);
    expect(
      Object.keys(paramsOf('', '')).filter((name) => OPERATION_WORDS[name as OperationName]?.overseen),
    ).to.have.members(['history', 'run', 'status']);
  });

  it('knows one address of a session, and none of what does not exist', async () => {
    const { url, addressOf } = await begin();
    const address = await addressOf('ann');
    const made = (value: unknown) => `~of.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
    const addresses = [
      ...[`${address}A`, made(['["one","ann"]', 'other']), made(['["one","nobody"]', 'main'])],
      ...[made(['["one","ann"]']), made(null), made(7), '~of.', '~of.%', '~of.e30'],
    ];
    for (const one of addresses) {
      const { status } = await ask(url, 'history', one, 'max');
      expect(status, one).to.be.oneOf([400, 404]);
    }
    expect((await ask(url, 'history', made(['["one","ann"]', 'main']), 'max')).status).to.equal(200);
  });

  it('follows an answer as it grows, under the address, until the right is taken back', async () => {
    let may = true;
    const { url, send, addressOf } = await begin({ oversight: ({ id }) => id === 'max' && may });
    const address = await addressOf('ann');
    const session = connectClient(url, { token: 'max' }).session(address);
    const state = await session.state();
    expect(state.messages.map(textOf)).to.deep.equal([SECRET, `You say ${SECRET}`]);
    const events = session.events({ from: state.cursor! });
    const types = new Set<string>();
    const answer = async (next: Promise<IteratorResult<GatewayEvent>>) => {
      for (let step = await next; ; step = await events.next()) {
        expect(step.value.sessionId).to.equal(address);
        types.add(step.value.type);
        if (step.value.type === 'message_end') return;
      }
    };
    // The first may be read from the log; the second is live, and its owner's reader gets the same under its own name.
    const own = connectClient(url, { token: 'one/ann' }).session('main');
    const heard = takeUntil(own.events({ from: 'now' }), ({ type }) => type === 'session_closed');
    for (let sent = 0; sent < 2; sent++) {
      const next = events.next();
      await send('one/ann', 'main');
      await answer(next);
    }
    expect([...types]).to.include.members(['message_accepted', 'content_delta', 'message_end']);
    await events.return?.();
    await own.close();
    expect(new Set((await heard).map(({ sessionId }) => sessionId))).to.deep.equal(new Set(['main']));
    may = false;
    expect((await ask(url, 'history', address, 'max')).status).to.equal(404);
    const refused = connectClient(url, { token: 'max' }).session(address);
    expect(await refused.state().catch(({ code }) => code)).to.equal('SESSION_NOT_FOUND');
  });
});
