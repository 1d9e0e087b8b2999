import { expect } from 'chai';
import { WebSocket } from 'ws';
import { appendMessages } from '../../client/history/index.js';
import { clientInbox } from '../../client/inbox/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import { connectClient, failure, takeUntil } from '../support/client.js';
import { get, post } from '../support/gateway.js';
import { overriding } from '../support/overriding.js';
import { begin, following, PEOPLE } from './begin.js';

describe('inbox', () => {
  it('counts answers that have come since they were read', async () => {
    const { client, inbox } = await begin();
    await client.send('main', 'one').result;
    const [row] = (await inbox.list()).sessions;
    expect(row).to.deep.include({ sessionId: 'main', app: 'default', unread: 1, running: false, waiting: 0 });
    const read = await inbox.read('main');
    expect(read).to.deep.include({ sessionId: 'main', unread: 0 });
    await client.send('main', 'two').result;
    expect(await inbox.list()).to.deep.include({ unread: 1, waiting: 0, cursor: null });
    expect((await inbox.list()).sessions[0]!.readTo).not.to.equal(read.readTo);
  });

  it('never takes a place back, and says so to the device that is behind', async () => {
    const { client, inbox } = await begin();
    const { cursor } = await client.send('main', 'one').result;
    const { readTo } = await inbox.read('main', { cursor });
    expect(readTo).to.equal(cursor);
    const first = `${cursor.split('.').slice(0, 2).join('.')}.1`;
    expect(await inbox.read('main', { cursor: first })).to.deep.include({ readTo, unread: 0 });
  });

  it('takes a place in the middle, and counts what is behind it', async () => {
    const { url } = await begin({ auth: PEOPLE, sessionScope: 'global' });
    const ann = connectClient(url, { token: 'ann' });
    const ben = clientInbox(connectClient(url, { token: 'ben' }));
    const { cursor } = await ann.send('main', 'one').result;
    await ann.send('main', 'two').result;
    expect(await ben.read('main', { cursor })).to.deep.include({ readTo: cursor, unread: 2 });
    await ann.send('main', 'three').result;
    expect((await ben.list()).unread).to.equal(4);
  });

  it('refuses places of other conversations and behind the end, naming the field', async () => {
    const { url, client } = await begin();
    const { cursor } = await client.send('main', 'one').result;
    const [epoch, term, seq] = cursor.split('.');
    for (const wrong of ['x', `aaaaaaaaaaa.${term}.${seq}`, `${epoch}.${term}.999`]) {
      const { status, body } = await post(`${url}/read`, { sessionId: 'main', cursor: wrong });
      expect([status, body.error.code]).to.deep.equal([400, 'INVALID_PARAMS']);
      expect(body.error.details).to.have.nested.property('[0].path', 'cursor');
    }
    expect((await post(`${url}/read`, { sessionId: 'other' })).body.error.code).to.equal('SESSION_NOT_FOUND');
    expect((await get(`${url}/inbox?cursor=x`)).body.error.details[0].path).to.equal('cursor');
  });

  it('has questions, and no session that is closed or archived', async () => {
    const { client, inbox } = await begin();
    client.send('asks', 'ask');
    await takeUntil(client.events('asks', { from: 'earliest' }), ({ type }) => type === 'input_required');
    await client.send('over', 'one').result;
    await client.send('kept', 'one').result;
    await client.close('over');
    await client.session('kept').update({ archived: true });
    const { sessions, waiting } = await inbox.list();
    expect(sessions.map((row) => [row.sessionId, row.waiting])).to.deep.equal([['asks', 1]]);
    expect(waiting).to.equal(1);
  });

  it('counts a question that a person answers as read up to there', async () => {
    const { url } = await begin({ auth: PEOPLE, sessionScope: 'global' });
    const [ann, ben] = ['ann', 'ben'].map((token) => connectClient(url, { token }));
    const run = ann!.send('main', 'ask');
    const [asked] = (
      await takeUntil(ann!.events('main', { from: 'earliest' }), ({ type }) => type === 'input_required')
    ).slice(-1);
    expect((await clientInbox(ben!).list()).unread).to.equal(1);
    await ben!.session('main').respond(asked as never, { output: 'yes' });
    await run.result;
    expect((await clientInbox(ben!).list()).unread).to.equal(1);
  });

  it('keeps no place of a session that is deleted', async () => {
    const store = memoryStore();
    const { client, inbox } = await begin({ store });
    await client.send('main', 'one').result;
    await client.send('over', 'one').result;
    const owner = JSON.stringify([null, 'token']);
    const places = async () =>
      (await store.records({ owner, kind: 'read', limit: 10 })).map(({ home }) => home.name);
    expect((await places()).sort()).to.deep.equal(['main', 'over']);
    await client.session('over').delete();
    expect(await places()).to.deep.equal(['main']);
    expect((await inbox.list()).sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['main']);
  });

  it('keeps a place in the form that others read', async () => {
    const store = memoryStore();
    const { client, inbox } = await begin({ store });
    await client.send('main', 'one').result;
    const { readTo } = await inbox.read('main');
    const owner = JSON.stringify([null, 'token']);
    const [record] = await store.records({ owner, kind: 'read', limit: 10 });
    const [epoch, , seq] = readTo.split('.');
    expect(record).to.deep.include({ id: owner, owner });
    expect(JSON.parse(record!.value))
      .to.include({ epoch, seq: Number(seq) })
      .and.have.property('at');
  });

  it('pages through sessions, with sums over all of them', async () => {
    const { client, inbox } = await begin();
    for (const id of ['a', 'b', 'c']) await client.send(id, 'one').result;
    const first = await inbox.list({ limit: 2 });
    expect(first.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['c', 'b']);
    expect(first.unread).to.equal(3);
    const next = await inbox.list({ limit: 2, cursor: first.cursor! });
    expect(next.sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['a']);
    expect(next.cursor).to.equal(null);
  });

  it('looks at all sessions for a first page alone, whose sums and place go with the pages after it', async () => {
    const store = memoryStore();
    let listed = 0;
    const list: Store['list'] = async (...asked) => {
      const page = await store.list(...asked);
      listed += page.records.length;
      return page;
    };
    const { client, inbox } = await begin({ store: overriding(store, { list }) });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const id of ids) await client.send(id, 'one').result;
    const first = await inbox.list({ limit: 2 });
    expect(listed).to.be.at.least(ids.length);
    const shown = first.sessions.map(({ sessionId }) => sessionId);
    for (let page = first; page.cursor !== null; ) {
      // It changes the sums, which no page after the first one has read.
      await inbox.read('a');
      listed = 0;
      page = await inbox.list({ limit: 2, cursor: page.cursor });
      expect(listed).to.equal(2);
      shown.push(...page.sessions.map(({ sessionId }) => sessionId));
      const { unread, waiting, place } = first;
      expect(page).to.include({ unread, waiting, place });
    }
    expect(shown).to.deep.equal(ids.reverse());
    for (const cursor of ['1.1', '1.1.1.1.x.0', 'x', `${'1'.repeat(17)}.1.1.1.1.0`])
      expect(await failure(inbox.list({ cursor }))).to.containSubset({
        ...{ code: 'INVALID_PARAMS', details: [{ path: 'cursor' }] },
      });
  });

  it('counts for each person what others have said, in a session that several share', async () => {
    const { url } = await begin({ auth: PEOPLE, sessionScope: 'global' });
    const [ann, ben] = ['ann', 'ben'].map((token) => connectClient(url, { token }));
    await ann!.send('main', 'one').result;
    expect((await clientInbox(ann!).list()).unread).to.equal(1);
    expect((await clientInbox(ben!).list()).unread).to.equal(2);
    await ben!.send('main', 'two').result;
    expect((await clientInbox(ben!).list()).unread).to.equal(1);
    expect((await clientInbox(ann!).list()).unread).to.equal(3);
    const { messages } = await appendMessages(ann!, 'main', ['a note', 'another']);
    const unread = async () => [
      (await clientInbox(ann!).list()).unread,
      (await clientInbox(ben!).list()).unread,
    ];
    expect(await unread()).to.deep.equal([0, 3]);
    // The count is made anew where the conversation was elsewhere.
    for (const { id } of messages) await ann!.session('main').move(id);
    expect(await unread()).to.deep.equal([0, 3]);
  });

  it('shows what the host lets its person see, and nothing of others', async () => {
    const { url } = await begin({
      auth: PEOPLE,
      sessionAccess: (_user, { name }, operation) => operation !== 'inbox' || name !== 'secret',
    });
    const ann = connectClient(url, { token: 'ann' });
    await ann.send('secret', 'one').result;
    await ann.send('open', 'one').result;
    const { sessions, unread } = await clientInbox(ann).list();
    expect(sessions.map(({ sessionId }) => sessionId)).to.deep.equal(['open']);
    expect(unread).to.equal(1);
    expect((await clientInbox(connectClient(url, { token: 'ben' })).list()).sessions).to.deep.equal([]);
    expect((await failure(clientInbox(connectClient(url, { token: 'ben' })).read('open'))).code).to.equal(
      'SESSION_NOT_FOUND',
    );
  });
});

for (const transport of ['sse', 'websocket'] as const)
  describe(`stream of an inbox over ${transport}`, () => {
    const connect = async () => {
      const begun = await begin();
      return { ...begun, inbox: clientInbox(connectClient(begun.url, { transport, WebSocket })) };
    };

    it('begins with a page, and tells of each change', async () => {
      const { client, inbox } = await connect();
      await client.send('one', 'hi').result;
      const shown = following(inbox);
      await shown.until(({ rows }) => rows.get('one')?.unread === 1);
      expect(shown.resets).to.equal(1);
      await client.send('two', 'hi').result;
      await shown.until(({ totals }) => totals.unread === 2);
      await inbox.read('one');
      await shown.until(({ rows }) => rows.get('one')?.unread === 0);
    });

    it('tells of titles, and of what is over', async () => {
      const { client, inbox } = await connect();
      await client.send('one', 'hi').result;
      await client.send('two', 'hi').result;
      const shown = following(inbox);
      await shown.until(({ rows }) => rows.size === 2);
      await client.session('two').update({ title: 'Second' });
      await shown.until(({ rows }) => rows.get('two')?.title === 'Second');
      await client.close('two');
      await shown.until(({ rows }) => !rows.has('two'));
      await client.session('one').delete();
      await shown.until(({ rows }) => rows.size === 0);
      expect(shown.totals).to.deep.equal({ unread: 0, waiting: 0 });
    });

    it('goes on behind a page that was listed', async () => {
      const { client, inbox } = await connect();
      await client.send('one', 'hi').result;
      const { place } = await inbox.list();
      const shown = following(inbox, place);
      await client.send('two', 'hi').result;
      await shown.until(({ rows }) => rows.get('two')?.unread === 1);
      expect(shown.resets).to.equal(0);
    });

    it('begins anew where sessions have gone, or the place is none of its own', async () => {
      const { client, inbox } = await connect();
      await client.send('one', 'hi').result;
      await client.send('two', 'hi').result;
      const { place } = await inbox.list();
      await client.session('two').delete();
      for (const from of [place, 'x', `${Date.now() - 2 * 86_400_000}.0`]) {
        const shown = following(inbox, from);
        await shown.until(({ resets }) => resets === 1);
        expect([...shown.rows.keys()]).to.deep.equal(['one']);
      }
    });
  });
