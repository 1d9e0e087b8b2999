import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createGateway } from '../../server/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import { connectClient, failure } from '../support/client.js';
import { get, post } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { tempDir } from '../support/temp-dir.js';
import { as } from '../support/users.js';
import { begin, told } from './cast.js';

const TOKEN = 'a-token-of-more-than-thirty-two-bytes';

describe('a share link', () => {
  it('has whoever shows its token be a guest, with an id of its own', async () => {
    const { url, send, shared } = await begin({ shareLinks: { upTo: 'member' } });
    await send('hi');
    const { sessionId, token } = await shared({ with: { link: true }, as: 'member' });
    expect(token).to.match(/^lnk_[A-Za-z0-9_-]{43}$/);
    const [one, two] = [as(`${token}.one`), as(`${token}.two`)];
    for (const who of [one, two, as(token!)])
      expect((await get(`${url}/history?sessionId=${sessionId}`, who)).status).to.equal(200);
    await send('hello', one, sessionId);
    await send('hello', two, sessionId);
    const { body } = await get(`${url}/history?sessionId=main`, as('ann'));
    const senders = body.messages.map(({ senderId }: any) => senderId).filter(Boolean);
    expect(new Set(senders).size).to.equal(2);
    for (const id of senders) expect(id).to.match(/^guest_[A-Za-z0-9_-]{16}$/);
  });

  it('is told once: neither its token nor a hash of it is in events, lists or the store', async () => {
    const path = `${tempDir()}/gateway.db`;
    const { url, send, shared, grants, gateway } = await begin({
      shareLinks: true,
      store: sqliteStore({ path }),
    });
    await send('hi');
    const { token } = await shared({ with: { link: true }, as: 'viewer' });
    const events = await (
      await fetch(`${url}/export?sessionId=main&what=events`, { headers: as('ann') })
    ).text();
    expect(events).to.include('grant_added');
    const { body } = await grants();
    expect(body.grants[0].with).to.deep.equal({ link: true });
    const secret = token!.slice('lnk_'.length);
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
    const digest = Buffer.from(hash).toString('base64url');
    expect(events + JSON.stringify(body))
      .not.to.include(secret)
      .and.not.include(digest);
    await gateway.close();
    const files = readdirSync(path.slice(0, path.lastIndexOf('/')));
    const kept = files
      .map((file) => readFileSync(`${path.slice(0, path.lastIndexOf('/'))}/${file}`, 'latin1'))
      .join();
    expect(kept).to.include(digest).and.not.include(secret);
  });

  it('is shown like every token: in a header, in the query of a stream, by a client, for a ticket', async () => {
    const { url, send, shared } = await begin({ shareLinks: true });
    await send('hi');
    const { sessionId, token } = await shared({ with: { link: true }, as: 'viewer' });
    const stream = await openStream(`${url}/events?sessionId=${sessionId}&from=earliest&token=${token}`, {
      headers: { authorization: '' },
    });
    await stream.until(({ event }) => event === 'message_end');
    const { body } = await post(`${url}/ticket`, {}, as(token!));
    const ticketed = await openStream(
      `${url}/events?sessionId=${sessionId}&from=earliest&token=${body.ticket}`,
      { headers: { authorization: '' } },
    );
    await ticketed.until(({ event }) => event === 'message_end');
    const client = connectClient(url, { token: token! });
    expect((await client.session(sessionId).history()).messages).to.have.length(2);
    expect(await failure(client.send(sessionId, 'hi').accepted)).to.include({ code: 'ACCESS_DENIED' });
  });

  it('says where the host opens it', async () => {
    const { send, share } = await begin({
      shareLinks: { url: ({ token, sessionId }) => `https://chat.example/s/${sessionId}#${token}` },
    });
    await send('hi');
    const { body } = await share({ with: { link: true }, as: 'viewer' });
    expect(body.url).to.equal(`https://chat.example/s/${body.grant.sessionId}#${body.token}`);
    const given = { with: { userId: 'ben' }, as: 'viewer' } as const;
    expect((await share(given)).body).not.to.have.any.keys('url', 'token');
  });

  it('allows at most what the host says, and nothing where it does not', async () => {
    const { send, share } = await begin({ shareLinks: true });
    await send('hi');
    for (const [role, status] of [
      ['viewer', 200],
      ['commenter', 200],
      ['member', 400],
      ['operator', 400],
    ] as const) {
      const { status: answered, body } = await share({ with: { link: true }, as: role });
      expect([answered, body.error?.details[0].path]).to.deep.equal([
        status,
        status === 400 ? 'as' : undefined,
      ]);
    }
  });

  it('that was made up is no caller, whatever else lets callers in', async () => {
    const whole = [`lnk_${'A'.repeat(43)}`, `lnk_${'A'.repeat(43)}.page`];
    const cases = [
      [undefined, whole],
      [{ type: 'none' }, [...whole, 'lnk_', 'lnk_short', `lnk_${'A'.repeat(43)}.`]],
      [{ type: 'token', token: TOKEN }, [...whole, 'lnk_', 'lnk_short', `lnk_${'A'.repeat(43)}.`]],
    ] as const;
    for (const [auth, tokens] of cases) {
      const { url } = await begin({ shareLinks: true, ...(auth && { auth }) });
      for (const token of tokens)
        expect(told(await get(`${url}/sessions`, as(token))), token).to.deep.equal([401, 'UNAUTHENTICATED']);
    }
  });

  it('that is good is let in however many bad ones its address has shown, which count for nobody', async () => {
    const validate = (token?: string) =>
      token === 'ann' ? ({ valid: true, user: { id: 'ann' } } as const) : ({ valid: false } as const);
    const { url, send, shared } = await begin({ shareLinks: true, auth: { type: 'custom', validate } });
    await send('hi');
    const { sessionId, token } = await shared({ with: { link: true }, as: 'viewer' });
    for (let i = 0; i < 12; i++) {
      const bad = as(`lnk_${`${i}`.repeat(43).slice(0, 43)}`);
      expect((await get(`${url}/sessions`, bad)).status).to.equal(401);
    }
    expect((await get(`${url}/history?sessionId=${sessionId}`, as(token!))).status).to.equal(200);
    expect((await get(`${url}/sessions`, as('ann'))).status).to.equal(200);
  });

  it('leaves tokens to the host that begin as it does and are of another form', async () => {
    const { url, gateway } = await begin({ shareLinks: true });
    for (const token of ['lnk_of-the-host', `lnk_${'h'.repeat(64)}`]) {
      const { status, body } = await get(`${url}/status`, as(token));
      expect([status, body.user.id]).to.deep.equal([200, token]);
    }
    await gateway.close();
    const guessed = await begin({ shareLinks: true, auth: { type: 'token', token: TOKEN } });
    const codes = [];
    for (let i = 0; i < 11; i++) codes.push((await get(`${guessed.url}/status`, as(`lnk_${i}`))).status);
    expect(codes).to.deep.equal([...Array(10).fill(401), 429]);
  });

  it('is worth nothing where the host has switched links off since', async () => {
    const path = `${tempDir()}/gateway.db`;
    const first = await begin({ shareLinks: true, store: sqliteStore({ path }) });
    await first.send('hi');
    const { token } = await first.shared({ with: { link: true }, as: 'viewer' });
    await first.gateway.close();
    const { url } = await begin({
      store: sqliteStore({ path }),
      auth: { type: 'token', token: TOKEN },
    });
    expect((await get(`${url}/sessions`, as(token!))).status).to.equal(401);
  });

  it('is configured by true, false or an object, and nothing else', () => {
    for (const shareLinks of [
      'yes',
      { upTo: 'owner' },
      { for: 'all' },
      { url: 'https://a.example' },
    ] as any[])
      expect(() => createGateway({ app: { run: () => '' }, embedded: true, shareLinks })).to.throw(
        /shareLinks/,
      );
  });
});

describe('what somebody shares on', () => {
  it('is at most what it has, and is not ended with its own grant', async () => {
    const { url, send, share, shared, unshare, grants } = await begin();
    await send('hi');
    const ben = await shared({ with: { userId: 'ben' }, as: 'operator', hide: ['usage'] });
    const { body } = await share(
      { with: { userId: 'cy' }, as: 'viewer', hide: ['usage', 'data'] },
      as('ben'),
      ben.sessionId,
    );
    expect(body.grant).to.deep.include({ by: 'ben', as: 'viewer', hide: ['usage', 'data'] });
    expect((await grants(as('ben'), ben.sessionId)).body.grants).to.have.length(2);
    await unshare(ben.grantId);
    expect((await get(`${url}/history?sessionId=${body.grant.sessionId}`, as('cy'))).status).to.equal(200);
    expect((await grants()).body.grants.map(({ by }: any) => by)).to.deep.equal(['ben']);
  });

  it('is told in the events of those alone who may share', async () => {
    const { url, send, shared } = await begin();
    await send('hi');
    const operator = await shared({ with: { userId: 'ben' }, as: 'operator' });
    const member = await shared({ with: { userId: 'cy' }, as: 'member' });
    const read = async (sessionId: string, who: string) =>
      (await fetch(`${url}/export?sessionId=${sessionId}&what=events`, { headers: as(who) })).text();
    expect(await read(operator.sessionId, 'ben'))
      .to.include('grant_added')
      .and.include(member.grantId);
    expect(await read(member.sessionId, 'cy'))
      .not.to.include('grant_added')
      .and.not.include(operator.grantId);
  });
});

describe('files of a shared session', () => {
  const upload = async (url: string, who: string, text: string): Promise<string> => {
    const response = await fetch(`${url}/files`, {
      method: 'POST',
      headers: { ...as(who), 'content-type': 'text/plain' },
      body: text,
    });
    return (await response.json()).fileId;
  };
  const naming = (fileId: string) => ({
    content: [
      { type: 'text', text: 'see' },
      { type: 'file', mediaType: 'text/plain', fileId },
    ],
  });

  it('are read by whoever it is shared with, and others of its owner are not', async () => {
    const { url, shared } = await begin();
    const [used, other] = [await upload(url, 'ann', 'used'), await upload(url, 'ann', 'other')];
    await post(`${url}/send`, { sessionId: 'main', message: naming(used) }, as('ann'));
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
    const read = (fileId: string, session = sessionId, who = 'ben') =>
      fetch(`${url}/files/${fileId}?sessionId=${session}`, { headers: as(who) });
    expect(await (await read(used)).text()).to.equal('used');
    for (const response of [
      await read(other),
      await read(used, 'main'),
      await read(used, sessionId, 'cy'),
      await fetch(`${url}/files/${used}`, { headers: as('ben') }),
    ])
      expect(response.status).to.equal(404);
    for (const [fileId, status] of [
      [used, 200],
      [other, 404],
    ] as const)
      expect((await post(`${url}/send`, { sessionId, message: naming(fileId) }, as('ben'))).status).to.equal(
        status,
      );
  });
});
