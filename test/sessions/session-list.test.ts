import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import type { SessionSummary } from '../../shared/operation-types.js';
import { gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';
import { as, byName } from '../support/users.js';
import { nextMillisecond } from '../support/wall-clock.js';

/** Says again what it is told; `title …` gives its session a title, `ask` waits for a person, `hold` for the test. */
function talker() {
  const held = gate();
  const app = defineApp({
    tools: { erase: tool({ confirm: true, handler: () => 'erased' }) },
    async *run(turn) {
      const [word, ...rest] = turn.text.split(' ');
      if (word === 'title') turn.title(rest.join(' '));
      if (word === 'ask') await turn.callTool('erase', {});
      if (word === 'hold') await held.passed;
      yield `re: ${turn.text}`;
    },
  });
  return { app, held };
}

const quick = { sendsPerSecond: Number.POSITIVE_INFINITY, readsPerSecond: Number.POSITIVE_INFINITY };
const respondAsync = { prefer: 'respond-async' };

/** What a test asks of a gateway. */
function asking(url: string) {
  const list = async (query = ''): Promise<{ sessions: SessionSummary[]; cursor: string | null }> =>
    (await get(`${url}/sessions${query}`)).body;
  return {
    list,
    names: async (query = '') => (await list(query)).sessions.map(({ sessionId }) => sessionId),
    one: async (name: string, query = ''): Promise<SessionSummary> =>
      (await list(query)).sessions.find(({ sessionId }) => sessionId === name)!,
    send: async (sessionId: string, message: unknown, more = {}) => {
      await nextMillisecond();
      return post(`${url}/send`, { sessionId, message, ...more });
    },
    update: (sessionId: string, changes: object) => post(`${url}/update`, { sessionId, ...changes }),
    follow: (sessionId: string, from = 'earliest') =>
      openStream(`${url}/events?sessionId=${sessionId}&from=${from}&token=${TOKEN}`),
  };
}

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`the list of sessions (${name})`, () => {
    const start = async (config: object = {}) => {
      const { app, held } = talker();
      const { url } = await startGateway({ app, store: make(), limits: quick, ...config });
      return { url, held, ...asking(url) };
    };

    it('says of each what a page shows of it', async () => {
      const { send, one, update } = await start();
      const before = Date.now();
      await send('main', 'Hello\n  there');
      const first = await one('main');
      expect(first).to.include({
        sessionId: 'main',
        app: 'default',
        status: 'idle',
        preview: 're: Hello there',
        messageCount: 2,
        pending: 0,
        archived: false,
      });
      expect(first).to.not.have.any.keys('title', 'metadata', 'forkedFrom');
      expect(first.createdAt).to.be.within(before, first.updatedAt);
      expect(first.updatedAt).to.be.at.most(Date.now());
      await update('main', { title: 'Greetings', metadata: { project: 'p1' } });
      await send('main', `${'😀'.repeat(200)}`);
      const second = await one('main');
      expect(second).to.deep.include({ title: 'Greetings', metadata: { project: 'p1' }, messageCount: 4 });
      expect(second.preview).to.have.length.at.most(160);
      expect(second.preview).to.match(/^re: (😀)+…$/u);
    });

    it('shows what waits for a person, and where an answer is being written', async () => {
      const { send, one, list, names, follow, held, url } = await start();
      await send('main', 'hello');
      await post(`${url}/send`, { sessionId: 'busy', message: 'hold' }, respondAsync);
      const stream = await follow('asked');
      await post(`${url}/send`, { sessionId: 'asked', message: 'ask' }, respondAsync);
      const { data } = await stream.until(({ event }) => event === 'tool_confirmation_required');
      expect(await one('asked')).to.include({
        status: 'waiting',
        pending: 1,
        messageCount: 1,
        preview: 'ask',
      });
      expect(await names('?status=waiting')).to.deep.equal(['asked']);
      expect(await names('?status=running')).to.deep.equal(['busy']);
      expect(await names('?status=idle')).to.deep.equal(['main']);
      expect((await list('?status=sleeping')) as any).to.have.nested.property('error.code', 'INVALID_PARAMS');
      await post(`${url}/tool-response`, { sessionId: 'asked', callId: data.callId, approved: true });
      await stream.until(({ event }) => event === 'message_end');
      expect(await one('asked')).to.include({ status: 'idle', pending: 0, messageCount: 2 });
      held.open();
    });

    it('has the one that was used last first; what changes its title moves none', async () => {
      const { send, names, update } = await start();
      for (const session of ['a', 'b', 'c', 'a']) await send(session, 'hello');
      expect(await names()).to.deep.equal(['a', 'c', 'b']);
      await update('b', { title: 'B' });
      await update('c', { metadata: { pinned: true } });
      expect(await names()).to.deep.equal(['a', 'c', 'b']);
      await send('b', 'hello');
      expect(await names()).to.deep.equal(['b', 'a', 'c']);
    });

    it('is read page by page, also while sessions are used', async () => {
      const { send, list, names } = await start();
      for (const session of ['a', 'b', 'c', 'd', 'e', 'f']) await send(session, 'hello');
      const seen: string[] = [];
      let query = '?limit=2';
      const used = ['b', 'f'];
      for (;;) {
        const { sessions, cursor } = await list(query);
        seen.push(...sessions.map(({ sessionId }) => sessionId));
        if (cursor === null) break;
        query = `?limit=2&before=${cursor}`;
        const next = used.shift();
        if (next) await send(next, 'again');
      }
      // `b` has moved before it was reached: it is at the front for whoever begins again.
      expect(seen).to.deep.equal(['f', 'e', 'd', 'c', 'a']);
      expect(await names('?limit=2')).to.deep.equal(['f', 'b']);
      for (const before of ['x', '1', '1.', '1.2.3', '-1.2', '1.2e3'])
        expect((await list(`?before=${before}`)) as any, before).to.have.nested.property(
          'error.code',
          'INVALID_PARAMS',
        );
    });

    it('leaves out archived sessions, or has only them', async () => {
      const { send, names, update, one } = await start();
      for (const session of ['a', 'b', 'c']) await send(session, 'hello');
      await update('b', { archived: true });
      expect(await names()).to.deep.equal(['c', 'a']);
      expect(await names('?archived=false')).to.deep.equal(['c', 'a']);
      expect(await names('?archived=true')).to.deep.equal(['b']);
      await send('b', 'more');
      expect(await one('b', '?archived=true'), 'until it is said otherwise').to.include({
        archived: true,
        messageCount: 4,
      });
      await update('b', { archived: false });
      expect(await names()).to.deep.equal(['b', 'c', 'a']);
      expect((await get(`${(await start()).url}/sessions?archived=perhaps`)).status).to.equal(400);
    });

    it('is searched by titles', async () => {
      const { send, names, update } = await start();
      const titles = { a: 'Übung 100%', b: 'übungen_2', c: 'other' };
      for (const [session, title] of Object.entries(titles)) {
        await send(session, 'hello');
        await update(session, { title });
      }
      const found = (query: string) => names(`?query=${encodeURIComponent(query)}`);
      expect(await found('ÜBUNG')).to.deep.equal(['b', 'a']);
      expect(await found('%')).to.deep.equal(['a']);
      expect(await found('_')).to.deep.equal(['b']);
      expect(await found('')).to.deep.equal(['c', 'b', 'a']);
      expect(await found("' OR 1=1 --")).to.deep.equal([]);
    });

    it('is right for sessions that nobody holds', async () => {
      const store = make();
      const { app } = talker();
      const first = await startGateway({ app, store, limits: quick });
      const { send, update, list } = asking(first.url);
      for (const session of ['a', 'b', 'c']) await send(session, `hello ${session}`);
      await update('a', { title: 'A', metadata: { n: 1 } });
      await send('b', 'more');
      const before = await list();
      const second = await startGateway({ app, store, limits: quick });
      await first.gateway.close();
      const after = asking(second.url);
      expect(await after.list()).to.deep.equal(before);
      await after.send('a', 'again');
      expect(await after.one('a')).to.deep.include({ title: 'A', metadata: { n: 1 }, messageCount: 4 });
    });

    it('counts the messages of the path, whatever was cut, moved or copied', async () => {
      const { send, one, url } = await start({ limits: { ...quick, retention: { events: 8 } } });
      for (let i = 0; i < 12; i++) await send('main', { id: `m${i}`, content: `${i}` });
      expect(await one('main')).to.include({ messageCount: 24, preview: 're: 11' });
      await post(`${url}/move`, { sessionId: 'main', tip: 'm2' });
      expect(await one('main')).to.include({ messageCount: 5, preview: '2' });
      await send('main', 'other', { parent: 'm1' });
      expect(await one('main')).to.include({ messageCount: 5, preview: 're: other' });
      await post(`${url}/regenerate`, { sessionId: 'main' });
      expect(await one('main')).to.include({ messageCount: 5 });
      await post(`${url}/move`, { sessionId: 'main', tip: 'm11' });
      expect(await one('main')).to.include({ messageCount: 23, preview: '11' });
      await post(`${url}/update`, { sessionId: 'main', title: 'Long', metadata: { a: 1 } });
      await post(`${url}/fork`, { sessionId: 'main', to: 'copy', at: 'm7' });
      expect(await one('copy')).to.deep.include({
        messageCount: 15,
        preview: '7',
        title: 'Long',
        metadata: { a: 1 },
        forkedFrom: { sessionId: 'main', messageId: 'm7' },
      });
      await post(`${url}/move`, { sessionId: 'main', tip: null });
      const emptied = await one('main');
      expect(emptied).to.include({ messageCount: 0, title: 'Long' });
      expect(emptied).to.not.have.property('preview');
    });

    it('forgets what a closed session was called when it begins anew', async () => {
      const { send, one, update, url } = await start();
      await send('main', 'hello');
      await update('main', { title: 'Old', metadata: { a: 1 }, archived: true });
      await post(`${url}/close`, { sessionId: 'main' });
      expect(await one('main', '?archived=true')).to.equal(undefined);
      await send('main', 'anew');
      const anew = await one('main');
      expect(anew).to.include({ messageCount: 2, archived: false });
      expect(anew).to.not.have.any.keys('title', 'metadata');
    });
  });

  describe(`what is kept with a session (${name})`, () => {
    const start = async (config: object = {}) => {
      const { app } = talker();
      const { url } = await startGateway({ app, store: make(), limits: quick, ...config });
      return { url, ...asking(url) };
    };

    it('is changed in front of those who follow it: each field that was, and nothing of the others', async () => {
      const { send, update, follow } = await start();
      await send('main', 'hello');
      const stream = await follow('main', 'now');
      await stream.until(({ event }) => event === 'connected');
      const metadata = { project: 'p1', tags: ['x'] };
      expect(await update('main', { title: 'One', metadata })).to.deep.include({
        status: 200,
        body: { ok: true },
      });
      await update('main', { title: 'One', metadata: { ...metadata }, archived: false });
      await update('main', { archived: true });
      await update('main', { title: null, metadata: { other: 1 } });
      await update('main', { metadata: null, archived: false });
      await update('main', {});
      await update('main', { title: null, metadata: null });
      await update('main', { title: 'Last' });
      await stream.until(({ data }) => data.title === 'Last');
      const told = stream.logged.map(({ event, data: { sessionId: _, ts: __, cursor: ___, ...data } }) => [
        event,
        data,
      ]);
      const by = 'token';
      expect(told).to.deep.equal([
        ['session_updated', { title: 'One', metadata, by }],
        ['session_updated', { archived: true, by }],
        ['session_updated', { title: null, metadata: { other: 1 }, by }],
        ['session_updated', { metadata: null, archived: false, by }],
        ['session_updated', { title: 'Last', by }],
      ]);
    });

    it('is in the state of the session, also below what is kept of its events and for the next process', async () => {
      const store = make();
      const { app } = talker();
      const config = { app, store, limits: { ...quick, retention: { events: 6 } } };
      const first = await startGateway(config);
      const { send, update } = asking(first.url);
      await send('main', 'hello');
      await update('main', { title: 'Kept', metadata: { a: 1 }, archived: true });
      for (let i = 0; i < 5; i++) await send('main', `${i}`);
      const stateAt = async (url: string) => {
        const stream = await asking(url).follow('main', 'snapshot');
        const { data } = await stream.until(({ event }) => event === 'snapshot');
        stream.close();
        return data.state;
      };
      const kept = { title: 'Kept', metadata: { a: 1 }, archived: true, messageCount: 12 };
      expect(await stateAt(first.url)).to.deep.include(kept);
      const second = await startGateway(config);
      await first.gateway.close();
      expect(await stateAt(second.url)).to.deep.include(kept);
      await asking(second.url).update('main', { archived: false });
      expect(await stateAt(second.url)).to.not.have.property('archived');
    });

    it('is told to who reads a copy from its beginning', async () => {
      const { send, update, follow, url } = await start();
      await send('main', 'hello');
      await update('main', { title: 'One', metadata: { a: 1 } });
      await post(`${url}/fork`, { sessionId: 'main', to: 'copy' });
      const stream = await follow('copy');
      const { data } = await stream.until(({ event }) => event === 'session_updated');
      expect(data).to.deep.include({ title: 'One', metadata: { a: 1 } });
      expect(stream.logged.map(({ event }) => event)).to.deep.equal(['history_moved', 'session_updated']);
    });

    it('is bounded, and the bounds can be moved', async () => {
      const { send, update, one } = await start();
      await send('main', 'hello');
      const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.error?.code];
      expect(codeOf(await update('main', { title: 'x'.repeat(256) }))).to.deep.equal([200, undefined]);
      const long = await update('main', { title: 'x'.repeat(257) });
      expect(codeOf(long)).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(long.body.error.details).to.deep.equal([
        { path: 'title', message: 'must have at most 256 characters (limits.titleLength), not 257' },
      ]);
      const fits = 'ä'.repeat((16 * 1024 - '{"a":""}'.length) / 2);
      expect(codeOf(await update('main', { metadata: { a: fits } }))).to.deep.equal([200, undefined]);
      const large = await update('main', { metadata: { a: `${fits}x` } });
      expect(codeOf(large)).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
      expect(large.body.error.message).to.include('limits.metadataBytes');
      for (const wrong of [{ title: '' }, { title: 1 }, { metadata: [] }, { archived: null }, { name: 'x' }])
        expect(codeOf(await update('main', wrong)), JSON.stringify(wrong)).to.deep.equal([
          400,
          'INVALID_PARAMS',
        ]);
      expect((await one('main')).metadata).to.deep.equal({ a: fits });
      const small = await start({ limits: { ...quick, titleLength: 3, metadataBytes: 7 } });
      await small.send('main', 'hello');
      expect(codeOf(await small.update('main', { title: 'abcd' }))).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(codeOf(await small.update('main', { metadata: { a: 1 } }))).to.deep.equal([200, undefined]);
      expect(codeOf(await small.update('main', { metadata: { a: 12 } }))).to.deep.equal([
        413,
        'PAYLOAD_TOO_LARGE',
      ]);
    });

    it('is of a session that has begun', async () => {
      const { send, update, url } = await start();
      const answer = await update('nowhere', { title: 'x' });
      expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
      await send('main', 'hello');
      await post(`${url}/close`, { sessionId: 'main' });
      expect((await update('main', { title: 'x' })).status).to.equal(404);
    });

    it('says who changed it in a session that users share', async () => {
      const { app } = talker();
      const config = { app, store: make(), auth: byName, sessionScope: 'tenant', limits: quick } as const;
      const { url } = await startGateway(config);
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('acme/alice'));
      await post(`${url}/update`, { sessionId: 'main', title: 'Ours' }, as('acme/bob'));
      const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, {
        headers: as('acme/alice'),
      });
      const { data } = await stream.until(({ event }) => event === 'session_updated');
      expect(data).to.include({ title: 'Ours', by: 'bob' });
      const [shown] = (await get(`${url}/sessions`, as('acme/alice'))).body.sessions;
      expect(shown).to.include({ title: 'Ours' });
    });

    it('is given by a turn: in one line, cut where it is too long, once', async () => {
      const { send, one, follow } = await start();
      const { body } = await send('main', 'title  A  fine\n day ');
      expect((await one('main')).title).to.equal('A fine day');
      await send('main', 'title A fine day');
      await send('main', `title ${'😀'.repeat(200)}`);
      expect((await one('main')).title).to.equal('😀'.repeat(128));
      await send('main', `title x${'😀'.repeat(200)}`);
      expect((await one('main')).title, 'no half of a character').to.equal(`x${'😀'.repeat(127)}`);
      await send('main', 'title  ');
      const stream = await follow('main');
      await stream.until(
        ({ data }) => data.runId !== undefined && data.message?.content?.[0]?.text === 're: title  ',
      );
      const told = stream.logged.filter(({ event }) => event === 'session_updated');
      expect(told).to.have.length(3);
      expect(told[0]!.data).to.include({ runId: body.runId, title: 'A fine day' });
      expect(told[0]!.data).to.not.have.property('by');
    });
  });
}

describe('a turn', () => {
  it('knows the title of its session, and gives none once it is over', async () => {
    const seen: (string | undefined)[] = [];
    let late = (_title: string): void => {};
    const app = defineApp({
      run: async (turn) => {
        seen.push(turn.session.title);
        turn.title('first');
        turn.title(turn.text);
        turn.title('first');
        late = turn.title;
      },
    });
    const { url } = await startGateway({ app });
    const { send, one } = asking(url);
    await send('main', 'second');
    late('too late');
    await send('main', 'second');
    expect(seen).to.deep.equal([undefined, 'first']);
    expect((await one('main')).title).to.equal('first');
  });
});
