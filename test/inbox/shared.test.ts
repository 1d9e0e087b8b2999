import { expect } from 'chai';
import { clientInbox } from '../../client/inbox/index.js';
import { sessionSharing } from '../../client/people/index.js';
import { connectClient } from '../support/client.js';
import { begin, following, PEOPLE } from './begin.js';

/** Ann and Ben, who have a session `main` each. */
async function beginTwo() {
  const { url } = await begin({ auth: PEOPLE });
  const [ann, ben] = ['ann', 'ben'].map((token) => connectClient(url, { token }));
  await ann!.send('main', 'one').result;
  await ben!.send('main', 'one').result;
  const sharing = sessionSharing(ann!, 'main');
  const share = async () => (await sharing.share({ with: { userId: 'ben' }, as: 'member' })).grant;
  return { ann: ann!, ben: ben!, inbox: clientInbox(ben!), sharing, share };
}

describe('inbox of what others share', () => {
  it('lists it under the address of the grant, each once, and counts it for each person', async () => {
    const { ann, ben, inbox, sharing, share } = await beginTwo();
    expect(await inbox.list()).to.deep.include({ unread: 1 });
    const { grantId, sessionId } = await share();
    const { sessions, unread } = await inbox.list();
    expect(sessions.map((row) => [row.sessionId, row.unread])).to.deep.equal([
      ['main', 1],
      [sessionId, 1],
    ]);
    expect(unread).to.equal(2);
    const page = await inbox.list({ limit: 1 });
    const rest = await inbox.list({ limit: 1, cursor: page.cursor! });
    const paged = [...page.sessions, ...rest.sessions].map((row) => row.sessionId);
    expect(paged).to.deep.equal(['main', sessionId]);
    expect(await inbox.read(sessionId)).to.deep.include({ sessionId, unread: 0 });
    expect((await inbox.list()).unread).to.equal(1);
    await ben.send(sessionId, 'two').result;
    expect((await inbox.list()).unread).to.equal(2);
    expect((await clientInbox(ann).list()).sessions.map(({ sessionId: id }) => id)).to.deep.equal(['main']);
    await sharing.unshare(grantId);
    expect((await inbox.list()).sessions.map(({ sessionId: id }) => id)).to.deep.equal(['main']);
  });

  it('pages through it where its time puts it', async () => {
    const { ann, ben, inbox, share } = await beginTwo();
    const { sessionId } = await share();
    await ben.send('other', 'one').result;
    const [first, second] = [await inbox.list({ limit: 1 }), 'main'];
    expect(first.sessions.map((row) => row.sessionId)).to.deep.equal(['other']);
    const next = await inbox.list({ limit: 1, cursor: first.cursor! });
    const last = await inbox.list({ limit: 1, cursor: next.cursor! });
    expect([next, last].map((page) => page.sessions.map((row) => row.sessionId))).to.deep.equal([
      [second],
      [sessionId],
    ]);
    await ann.send('main', 'two').result;
    expect((await inbox.list({ limit: 1 })).sessions[0]!.sessionId).to.equal(sessionId);
  });

  for (const transport of ['sse', 'websocket'] as const)
    it(`follows it over ${transport} from the grant to its end`, async () => {
      const { ann, inbox, sharing, share } = await beginTwo();
      const shown = following(inbox);
      await shown.until(({ rows }) => rows.size === 1);
      const one = await share();
      await shown.until(({ rows }) => rows.get(one.sessionId)?.unread === 1);
      await ann.send('main', 'two').result;
      await shown.until(({ rows }) => rows.get(one.sessionId)!.unread > 1);
      await inbox.read(one.sessionId);
      await shown.until(({ totals }) => totals.unread === 1);
      await sharing.unshare(one.grantId);
      await shown.until(({ rows }) => rows.size === 1);
      expect(shown.totals).to.deep.equal({ unread: 1, waiting: 0 });
      expect(shown.resets).to.equal(1);
    });

  it('goes on with one grant where another one of the same session ends', async () => {
    const { ann, inbox, sharing, share } = await beginTwo();
    const [one, two] = [await share(), await share()];
    const shown = following(inbox);
    await shown.until(({ rows }) => rows.size === 3);
    await sharing.unshare(two.grantId);
    await shown.until(({ rows }) => !rows.has(two.sessionId));
    await ann.send('main', 'two').result;
    await shown.until(({ rows }) => rows.get(one.sessionId)!.unread > 1);
  });

  it('drops it where the session is deleted', async () => {
    const { ann, inbox, share } = await beginTwo();
    const { sessionId } = await share();
    const shown = following(inbox);
    await shown.until(({ rows }) => rows.has(sessionId));
    await ann.session('main').delete();
    await shown.until(({ rows }) => rows.size === 1);
    expect((await inbox.list()).sessions.map((row) => row.sessionId)).to.deep.equal(['main']);
  });
});
