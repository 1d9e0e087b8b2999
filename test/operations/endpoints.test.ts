import { expect } from 'chai';
import { PROTOCOL_VERSION } from '../../server/index.js';
import { echo, heldApp } from '../support/apps.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const expectError = (answer: { status: number; body: any }, status: number, code: string): void => {
  expect(answer.body?.error, JSON.stringify(answer.body)).to.include({ code });
  expect(answer.status).to.equal(status);
};

describe('the operations over HTTP', () => {
  it('POST /abort ends the active run and says whether there was one', async () => {
    const { app, began } = heldApp();
    const { url } = await startGateway({ app });
    const sending = post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await began.passed;
    expect((await post(`${url}/abort`, { sessionId: 'main', runId: 'run_other' })).body).to.deep.equal({
      aborted: false,
    });
    expect((await post(`${url}/abort`, { sessionId: 'main' })).body).to.deep.equal({ aborted: true });
    expect((await sending).body).to.include({ stopReason: 'aborted' });
    expect((await post(`${url}/abort`, { sessionId: 'main' })).body).to.deep.equal({ aborted: false });
    expectError(await post(`${url}/abort`, { sessionId: 'never' }), 404, 'SESSION_NOT_FOUND');
  });

  it('POST /abort with runId ends a queued run before it starts', async () => {
    const { app, began, held } = heldApp();
    const { url } = await startGateway({ app });
    const first = post(`${url}/send`, { sessionId: 'main', message: 'one' });
    await began.passed;
    const { body } = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'two' },
      { prefer: 'respond-async' },
    );
    const second = post(`${url}/send`, { sessionId: 'main', message: 'three' });
    expect((await post(`${url}/abort`, { sessionId: 'main', runId: body.runId })).body).to.deep.equal({
      aborted: true,
    });
    held.open();
    expect((await first).body).to.include({ stopReason: 'end' });
    expect((await second).body).to.include({ stopReason: 'end' });
    const { body: history } = await get(`${url}/history?sessionId=main`);
    expect(
      history.messages.filter(({ role }: any) => role === 'user').map(({ content }: any) => content[0].text),
    ).to.deep.equal(['one', 'three']);
  });

  it('POST /close ends every run as aborted, then the session; the next send begins anew', async () => {
    const { app, began } = heldApp();
    const { url } = await startGateway({ app });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
    await stream.until(({ event }) => event === 'connected');
    const runs = [post(`${url}/send`, { sessionId: 'main', message: 'one' })];
    await began.passed;
    runs.push(post(`${url}/send`, { sessionId: 'main', message: 'two' }));
    await stream.until(({ event, data }) => event === 'message_accepted' && data.position === 1);
    expect((await post(`${url}/close`, { sessionId: 'main' })).body).to.deep.equal({ ok: true });
    for (const { body } of await Promise.all(runs)) expect(body).to.include({ stopReason: 'aborted' });
    const closed = await stream.until(({ event }) => event === 'session_closed');
    expect(stream.logged.filter(({ event }) => event === 'message_end')).to.have.length(2);
    expect(stream.logged.at(-1)).to.equal(closed);
    expectError(await get(`${url}/status?sessionId=main`), 404, 'SESSION_NOT_FOUND');
    expectError(await post(`${url}/close`, { sessionId: 'main' }), 404, 'SESSION_NOT_FOUND');
    const anew = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'three' },
      { prefer: 'respond-async' },
    );
    expect(anew.body.position).to.equal(0);
    expect((await stream.until(({ event }) => event === 'gap')).data).to.include({ reason: 'epoch' });
    expect((await stream.until(({ data }) => data.runId === anew.body.runId)).data.cursor).to.match(/\.1$/);
  });

  it('POST /channel publishes to every viewer of the session, and begins one', async () => {
    const { url } = await startGateway({ app: echo });
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
    await stream.until(({ event }) => event === 'connected');
    expect(
      (await post(`${url}/channel`, { sessionId: 'main', channel: 'news', type: 'flash', payload: { n: 1 } }))
        .body,
    ).to.deep.equal({ ok: true });
    await post(`${url}/channel`, { sessionId: 'main', channel: 'news' });
    await stream.until(({ data }) => data.event?.payload === null);
    expect(stream.logged.map(({ event, data }) => [event, data.channel, data.event])).to.deep.equal([
      ['channel', 'news', { type: 'flash', payload: { n: 1 } }],
      ['channel', 'news', { type: 'message', payload: null }],
    ]);
  });

  it('GET /history pages backwards with before, and a foreign cursor is 410', async () => {
    const { url } = await startGateway({ app: echo });
    for (const message of ['1', '2', '3']) await post(`${url}/send`, { sessionId: 'main', message });
    const texts = (body: any): string[] => body.messages.map(({ content }: any) => content[0].text);
    const last = (await get(`${url}/history?sessionId=main&limit=4`)).body;
    expect(texts(last)).to.deep.equal(['2', 'echo: 2', '3', 'echo: 3']);
    expect(last.hasMore).to.equal(true);
    const first = (await get(`${url}/history?sessionId=main&limit=4&before=${last.cursor}`)).body;
    expect(texts(first)).to.deep.equal(['1', 'echo: 1']);
    expect(first).to.include({ hasMore: false, cursor: null });
    await post(`${url}/close`, { sessionId: 'main' });
    await post(`${url}/send`, { sessionId: 'main', message: '4' });
    expectError(await get(`${url}/history?sessionId=main&before=${last.cursor}`), 410, 'CURSOR_GONE');
    expectError(await get(`${url}/history?sessionId=main&before=nonsense`), 400, 'INVALID_PARAMS');
    expectError(await get(`${url}/history?sessionId=main&limit=0`), 400, 'INVALID_PARAMS');
    expectError(await get(`${url}/history?sessionId=other`), 404, 'SESSION_NOT_FOUND');
  });

  it("GET /sessions lists the caller's sessions by pages, with status; closed ones are gone", async () => {
    const { url } = await startGateway({ app: echo, auth: byName });
    for (const sessionId of ['a', 'b', 'c'])
      await post(`${url}/send`, { sessionId, message: 'hi' }, as('alice'));
    await post(`${url}/send`, { sessionId: 'z', message: 'hi' }, as('bob'));
    await post(`${url}/close`, { sessionId: 'b' }, as('alice'));
    const seen: string[] = [];
    let before = '';
    do {
      const { body } = await get(`${url}/sessions?limit=1${before}`, as('alice'));
      for (const { sessionId, app, status } of body.sessions) {
        seen.push(sessionId);
        expect({ app, status }).to.deep.equal({ app: 'default', status: 'idle' });
      }
      before = body.cursor === null ? '' : `&before=${body.cursor}`;
    } while (before !== '');
    expect(seen.sort()).to.deep.equal(['a', 'c']);
    expectError(await get(`${url}/sessions?before=x`, as('alice')), 400, 'INVALID_PARAMS');
  });

  it('GET /apps lists the apps, the default one marked', async () => {
    const { url } = await startGateway({ apps: { echo, plain: { run: () => 'x' } }, defaultApp: 'plain' });
    expect((await get(`${url}/apps`)).body).to.deep.equal({
      apps: [
        { name: 'echo', description: 'Repeats what it is told', isDefault: false, tools: [] },
        { name: 'plain', isDefault: true, tools: [] },
      ],
    });
  });

  it('GET /apps has what each app suggests to begin with', async () => {
    const suggestions = ['Hello', { text: 'roll 20', shows: 'Rolls a die' }];
    const { url } = await startGateway({ app: { suggestions, run: () => 'x' } });
    const [{ suggestions: told }] = (await get(`${url}/apps`)).body.apps;
    expect(told).to.deep.equal([{ text: 'Hello' }, { text: 'roll 20', shows: 'Rolls a die' }]);
  });

  it('GET /status tells of the gateway, with sessionId of a session', async () => {
    const { app, began } = heldApp();
    const { gateway, url } = await startGateway({ app });
    expect((await get(`${url}/status`)).body).to.deep.equal({
      gatewayId: gateway.id,
      protocol: { min: 1, max: PROTOCOL_VERSION },
      draining: false,
      user: { id: 'token' },
    });
    const { body: accepted } = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'hi' },
      { prefer: 'respond-async' },
    );
    await began.passed;
    const { body } = await get(`${url}/status?sessionId=main`);
    expect(body).to.include({
      sessionId: 'main',
      app: 'default',
      status: 'running',
      runId: accepted.runId,
      queued: 0,
      first: 1,
    });
    expect(body.cursor).to.equal(`${body.epoch}.${body.cursor.split('.')[1]}.${body.head}`);
    expectError(await get(`${url}/status?sessionId=none`), 404, 'SESSION_NOT_FOUND');
  });

  it('GET /healthz and /readyz need no authentication', async () => {
    const { url } = await startGateway({ app: echo });
    for (const path of ['healthz', 'readyz']) {
      const response = await fetch(`${url}/${path}`);
      expect(response.status).to.equal(200);
      expect(await response.json()).to.deep.equal({ ok: true });
    }
  });
});

describe('session keys', () => {
  it('the canonical form is told whatever spelling was used', async () => {
    const { url } = await startGateway({ apps: { echo, other: echo }, defaultApp: 'echo' });
    const stream = await openStream(
      `${url}/events?sessionId=echo:main&sessionId=other:main&sessionId=echo:a:b`,
      { headers: jsonHeaders() },
    );
    const { data } = await stream.until(({ event }) => event === 'connected');
    expect(Object.keys(data.sessions)).to.deep.equal(['main', 'other:main', 'echo:a:b']);
  });

  it('subscribing to a session that does not exist waits for it and creates nothing', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    let created = 0;
    gateway.on('session:created', () => {
      created += 1;
    });
    const stream = await openStream(`${url}/events?sessionId=later`, { headers: jsonHeaders() });
    const { data } = await stream.until(({ event }) => event === 'connected');
    expect(data.sessions.later).to.include({
      epoch: null,
      first: 1,
      head: 0,
      resume: 'new',
      next: 1,
      status: 'idle',
      queued: 0,
    });
    expect(created).to.equal(0);
    expect((await get(`${url}/sessions`)).body.sessions).to.deep.equal([]);
    await post(`${url}/send`, { sessionId: 'later', message: 'hi' });
    await stream.until(({ event }) => event === 'message_end');
    expect(created).to.equal(1);
    expect(stream.logged.map(({ data: event }) => Number(event.cursor.split('.')[2]))).to.deep.equal([
      1, 2, 3, 4, 5,
    ]);
    expect(stream.events.some(({ event }) => event === 'gap')).to.equal(false);
  });

  it('a key of an unknown app is APP_NOT_FOUND everywhere', async () => {
    const { url } = await startGateway({ app: echo });
    const sessionId = 'ghost:main';
    expectError(await post(`${url}/send`, { sessionId, message: 'hi' }), 404, 'APP_NOT_FOUND');
    expectError(await post(`${url}/channel`, { sessionId, channel: 'c' }), 404, 'APP_NOT_FOUND');
    expectError(await get(`${url}/history?sessionId=${sessionId}`), 404, 'APP_NOT_FOUND');
    expectError(await get(`${url}/events?sessionId=${sessionId}`), 404, 'APP_NOT_FOUND');
  });
});
