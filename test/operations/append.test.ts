import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { initialState, reduce } from '../../shared/fold.js';
import { type Message, textOf } from '../../shared/messages.js';
import { begin } from '../grants/cast.js';
import { connectClient } from '../support/client.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { get, post, startGateway } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { as, byName } from '../support/users.js';

const app = defineApp({ run: (turn) => turn.history.map(textOf).join('|') });
const limits = { sendsPerSecond: 1000 };
const texts = (messages: readonly Message[]): string[] => messages.map(textOf);

/** A session over HTTP. */
function over(url: string, sessionId = 'main', headers?: Record<string, string>) {
  const ask = (path: string, params: object) => post(`${url}/${path}`, { sessionId, ...params }, headers);
  return {
    append: (...messages: readonly unknown[]) => ask('append', { messages }),
    send: (message: unknown, more: object = {}) => ask('send', { message, ...more }),
    move: (tip: string | null) => ask('move', { tip }),
    history: async () =>
      (await get(`${url}/history?sessionId=${sessionId}&limit=1000`, headers)).body.messages as Message[],
  };
}

describe('messages that are added without a run', () => {
  it('are what the app has before the next message, and in every reading of the session', async () => {
    const { url, gateway } = await startGateway({ app, limits, clientMessages: { roles: ['assistant'] } });
    const { append, send, history } = over(url);
    await append({ id: 'a', content: 'one' }, { id: 'b', role: 'assistant', content: 'two' });
    expect(texts([(await send('next')).body.message])).to.deep.equal(['one|two']);
    await append({ id: 'c', content: 'three' });
    const messages = await history();
    expect(texts(messages)).to.deep.equal(['one', 'two', 'next', 'one|two', 'three']);
    expect(messages.map(({ parentId }) => parentId)).to.deep.equal([
      ...[null, 'a', 'b'],
      ...[messages[2]!.id, messages[3]!.id],
    ]);
    let state = initialState;
    for await (const event of connectClient(url).events('main', { from: 'earliest' })) {
      state = reduce(state, event);
      if (state.tip === 'c') break;
    }
    expect(state.messages).to.deep.equal(messages);
    expect(state).to.include({ messageCount: 5, hasMore: false });
    const { sessions } = await gateway.sessions();
    expect(sessions[0]).to.include({ messageCount: 5, preview: 'three' });
    const found = await gateway.session('main').search('three');
    expect(found.hits.map(({ messageId }) => messageId)).to.deep.equal(['c']);
  });

  it('are added once by their ids, wherever the conversation has gone since', async () => {
    const { url } = await startGateway({ app, limits });
    const { append, send, move, history } = over(url);
    const added = [
      { id: 'a', content: 'one' },
      { id: 'b', content: 'two' },
    ];
    const all = await Promise.all([append(...added), append(...added), append(...added)]);
    expect(all.map(({ status, body }) => [status, body.tip, texts(body.messages)])).to.deep.equal(
      all.map(() => [200, 'b', ['one', 'two']]),
    );
    await send('next');
    expect((await append(...added)).status).to.equal(200);
    await move('a');
    expect((await append(...added)).status).to.equal(200);
    expect(texts(await history())).to.deep.equal(['one']);
    for (const other of [
      [{ id: 'a', content: 'other' }],
      [{ id: 'new', content: 'x' }, added[0]],
      [added[1], added[0]],
    ]) {
      const { status, body } = await append(...other);
      expect([status, body.error?.code], JSON.stringify(other)).to.deep.equal([409, 'MESSAGE_EXISTS']);
    }
    const twice = await append({ id: 'c', content: 'x' }, { id: 'c', content: 'x' });
    expect(twice.body.error.details).to.deep.equal({ messageId: 'c' });
    expect((await send({ id: 'b', content: 'x' })).body.error.code).to.equal('MESSAGE_EXISTS');
    expect(texts(await history())).to.deep.equal(['one']);
    // Another way from the same place is a version beside it.
    await append({ id: 'd', content: 'else' });
    expect((await history())[1]).to.deep.include({ parentId: 'a', versions: ['b', 'd'] });
  });

  it('stay when their events are cut, and over a restart', async () => {
    const path = newDatabase();
    const retention = { events: 8 };
    const first = await startDurable(path, { app, limits: { ...limits, retention } });
    const { append, send, history } = over(first.url);
    for (let i = 0; i < 12; i++) {
      await append({ id: `a${i}`, content: `note ${i}` }, { id: `b${i}`, content: 'and' });
      await send(`${i}`);
    }
    const whole = await history();
    expect(whole).to.have.length(48);
    expect(whole.map(({ parentId }) => parentId)).to.deep.equal([
      null,
      ...whole.slice(0, -1).map(({ id }) => id),
    ]);
    expect((await append({ id: 'a0', content: 'note 0' })).status).to.equal(200);
    expect((await append({ id: 'a0', content: 'else' })).body.error.code).to.equal('MESSAGE_EXISTS');
    await first.gateway.close();
    const next = over((await startDurable(path, { app, limits: { ...limits, retention } })).url);
    expect(await next.history()).to.deep.equal(whole);
    expect((await next.append({ id: 'b11', content: 'and' })).status).to.equal(200);
    expect(texts(await next.history())).to.deep.equal(texts(whole));
  });

  it('have ids that no other message takes, also once they have left memory', async () => {
    const { url, gateway } = await startGateway({
      app,
      limits: { ...limits, retention: { events: 4 } },
      store: memoryStore(),
    });
    const { append, send } = over(url);
    for (const name of ['a', 'b'])
      await append(...Array.from({ length: 700 }, (_, at) => ({ id: `${name}${at}`, content: `${at}` })));
    for (let i = 0; i < 4; i++) await send(`${i}`);
    expect((await append({ id: 'a0', content: 'else' })).body.error?.code).to.equal('MESSAGE_EXISTS');
    expect((await append({ id: 'a0', content: '0' })).body).to.have.property('tip', 'a0');
    const session = gateway.session('main');
    const at = [{ id: 'c', content: 'once' }];
    const tips = await Promise.all([session.append(at), session.append(at), session.append(at)]);
    expect(tips.map(({ tip }) => tip)).to.deep.equal(['c', 'c', 'c']);
    expect((await session.history({ limit: 1000 })).messages.filter(({ id }) => id === 'c')).to.have.length(
      1,
    );
    const { message } = await session.regenerate().result;
    const { messages } = await session.history({ limit: 2 });
    expect(messages.map(({ id }) => id)).to.deep.equal(['c', message.id]);
  });

  it('are nobody else’s: members may, viewers and strangers may not', async () => {
    const it = await begin({ limits });
    await it.send('hi');
    const grant = async (userId: string, as: 'member' | 'viewer') =>
      (await it.shared({ with: { userId }, as })).sessionId;
    const [bens, eves] = [await grant('ben', 'member'), await grant('vic', 'viewer')];
    const refused = async (sessionId: string, who: string) =>
      (await over(it.url, sessionId, as(who)).append('x')).body.error?.code;
    expect(await refused(eves, 'vic')).to.equal('ACCESS_DENIED');
    expect(await refused(bens, 'eve')).to.equal('SESSION_NOT_FOUND');
    const { body } = await over(it.url, bens, as('ben')).append({ id: 'ben', content: 'of Ben' });
    expect(body.messages[0]).to.include({ id: 'ben', senderId: 'ben' });
    const ann = over(it.url, 'main', as('ann'));
    expect(texts(await ann.history()).slice(2)).to.deep.equal(['of Ben']);
    // A file of the owner's that the session does not name is none to a guest of it.
    const { body: file } = await post(`${it.url}/files?name=f`, 'x', {
      ...as('ann'),
      'content-type': 'text/plain',
    });
    const content = [{ type: 'file', mediaType: 'text/plain', fileId: file.fileId }];
    const stolen = await over(it.url, bens, as('ben')).append({ content });
    expect(stolen.body.error?.code).to.equal('FILE_NOT_FOUND');
    expect((await ann.append({ content })).status).to.equal(200);
    expect((await over(it.url, bens, as('ben')).append({ content })).status).to.equal(200);
    const hiding = await it.shared({ with: { userId: 'cat' }, as: 'member', hide: ['metadata'] });
    const noted = { id: 'cat', content: 'x', metadata: { a: 1 } };
    const { body: shown } = await over(it.url, hiding.sessionId, as('cat')).append(noted);
    expect(shown.messages[0]).to.include({ id: 'cat' }).and.not.have.property('metadata');
  });

  it('are checked as sends are: roles, times, files, guards, rates, room, and the form', async () => {
    const guard = {
      parts: ['message'] as const,
      check: (text: string) => (/fool/.test(text) ? { end: 'No.' } : undefined),
    };
    const { url, gateway } = await startGateway({
      app: defineApp({ guard, run: () => 'x' }),
      store: memoryStore(),
      limits: { ...limits, sessionsPerUser: 1, shared: { sessions: 1 } },
    });
    const { append } = over(url);
    const file = { type: 'file', mediaType: 'text/plain', fileId: 'none' };
    for (const [message, code, field] of [
      [{ role: 'system', content: 'obey' }, 'INVALID_PARAMS', 'message.role'],
      [{ content: 'x', createdAt: 1 }, 'INVALID_PARAMS', 'message.createdAt'],
      [{ content: [] }, 'INVALID_PARAMS', 'messages.0'],
      [{ id: '', content: 'x' }, 'INVALID_PARAMS', 'messages.0.id'],
      [{ content: 'x', runId: 'r' }, 'INVALID_PARAMS', 'messages.0.runId'],
      [7, 'INVALID_PARAMS', 'messages.0'],
      [{ content: [file] }, 'FILE_NOT_FOUND', undefined],
      ['you fool', 'MODERATED', undefined],
    ] as const) {
      const { body } = await append(message);
      expect(body.error?.code, JSON.stringify(message)).to.equal(code);
      if (field) expect(JSON.stringify(body.error.details), JSON.stringify(message)).to.include(`"${field}`);
    }
    for (const messages of [[], 'x', {}, Array(1001).fill('x')])
      expect((await post(`${url}/append`, { sessionId: 'main', messages })).body.error.code).to.equal(
        'INVALID_PARAMS',
      );
    expect((await gateway.sessions()).sessions).to.have.length(0);
    expect((await append('fine')).status).to.equal(200);
    const full = (await over(url, 'second').append('x')).body.error;
    expect([full.code, full.message]).to.deep.equal(['RATE_LIMITED', full.message]);
    expect(full.message).to.match(/can have 1 open session/);
    expect((await over(url, 'nowhere:x').append('x')).body.error.code).to.equal('APP_NOT_FOUND');
    const slow = await startGateway({
      ...{ app, auth: byName, limits: { sendsPerSecond: 1 }, store: memoryStore() },
    });
    const floods = await Promise.all(
      Array.from({ length: 50 }, () => over(slow.url, 'main', as('ann')).append('x')),
    );
    const codes = new Set(floods.map(({ status, body }) => body.error?.code ?? status));
    expect([...codes].sort()).to.deep.equal([200, 'RATE_LIMITED']);
  });

  it('are written in one append, or not at all', async () => {
    const inner = memoryStore();
    let fails = false;
    const batches: string[][] = [];
    const store = overriding(inner, {
      append(ref, events, ...rest) {
        batches.push(events.map(({ type }) => type));
        if (fails) throw new Error('away');
        return inner.append(ref, events, ...rest);
      },
    });
    const { url } = await startGateway({ app, limits, store });
    const { append, history } = over(url);
    await append('one', 'two', 'three');
    expect(batches).to.deep.equal([['history_moved']]);
    fails = true;
    expect((await append({ id: 'four', content: 'x' })).status).to.be.at.least(500);
    fails = false;
    expect((await append({ id: 'four', content: 'x' })).status).to.equal(200);
    expect(await history()).to.have.length(4);
  });
});
