import { expect } from 'chai';
import { type GatewayConfig, getContext } from '../../server/index.js';
import { echo } from '../support/apps.js';
import { askedOfAlice, asking } from '../support/asking.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const start = (config: Partial<GatewayConfig<any>> = {}) =>
  startGateway({
    app: asking,
    auth: byName,
    methods: { publish: async () => getContext().channels!.publish('news', 'from a method') },
    ...config,
  });

/** A gateway on which Alice has begun a run. @returns its address, and what she was answered */
async function startWithRun(sessionId: string) {
  const { url } = await start();
  const headers = { ...as('alice'), prefer: 'respond-async' };
  return { url, body: (await post(`${url}/send`, { sessionId, message: 'hi' }, headers)).body };
}

/** What tells one answer from another, but for the id that each has of its own. */
const errorOf = ({ status, body }: { status: number; body: any }) => ({
  status,
  error: { ...body?.error, requestId: undefined },
});

describe('two users with the same session id', () => {
  it('have two sessions', async () => {
    const { url } = await start();
    const mine = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    const yours = await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('bob'));
    expect(mine.body.message.content[0].text).to.equal('secret of alice');
    expect(yours.body.message.content[0].text).to.equal('secret of bob');
    for (const [user, other] of [
      ['alice', 'bob'],
      ['bob', 'alice'],
    ] as const) {
      const { body } = await get(`${url}/history?sessionId=main`, as(user));
      expect(body.messages).to.have.length(2);
      expect(JSON.stringify(body)).not.to.include(`secret of ${other}`);
    }
    expect(mine.body.cursor.split('.')[0]).not.to.equal(yours.body.cursor.split('.')[0]);
  });

  it('of the same name in two tenants are two users', async () => {
    const { url } = await start();
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('acme/alice'));
    expect((await get(`${url}/history?sessionId=main`, as('other/alice'))).status).to.equal(404);
    expect((await get(`${url}/history?sessionId=main`, as('alice'))).status).to.equal(404);
    expect((await get(`${url}/history?sessionId=main`, as('acme/alice'))).status).to.equal(200);
  });

  it("neither sees the other's live events", async () => {
    const { url } = await start();
    const stream = await openStream(`${url}/events?sessionId=main`, { headers: as('bob') });
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('alice'));
    await post(`${url}/channel`, { sessionId: 'main', channel: 'news', payload: 1 }, as('alice'));
    await post(`${url}/invoke`, { sessionId: 'main', method: 'publish' }, as('alice'));
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('bob'));
    await stream.until(({ event }) => event === 'message_end');
    expect(JSON.stringify(stream.events)).not.to.include('alice');
    expect(stream.logged.map(({ event }) => event)).not.to.include('channel');
  });
});

describe("a stranger's operation", () => {
  it('on a session answers like one on a session that does not exist', async () => {
    const { url } = await start();
    const { data } = (await askedOfAlice(url, 'private')).asked;
    const tries: Record<string, (sessionId: string) => Promise<{ status: number; body: any }>> = {
      history: (sessionId) => get(`${url}/history?sessionId=${sessionId}`, as('bob')),
      status: (sessionId) => get(`${url}/status?sessionId=${sessionId}`, as('bob')),
      abort: (sessionId) => post(`${url}/abort`, { sessionId, runId: data.runId }, as('bob')),
      close: (sessionId) => post(`${url}/close`, { sessionId }, as('bob')),
      update: (sessionId) => post(`${url}/update`, { sessionId, title: 'mine' }, as('bob')),
      'tool-response': (sessionId) =>
        post(`${url}/tool-response`, { sessionId, callId: data.callId, approved: true }, as('bob')),
    };
    for (const [name, attempt] of Object.entries(tries)) {
      const answer = errorOf(await attempt('private'));
      expect(answer, name).to.deep.equal(errorOf(await attempt('nowhere')));
      expect(answer.status, name).to.equal(404);
      expect(answer.error.code, name).to.equal('SESSION_NOT_FOUND');
    }
    expect((await get(`${url}/sessions`, as('bob'))).body.sessions).to.deep.equal([]);
    expect((await get(`${url}/status?sessionId=private`, as('alice'))).body).to.include({
      status: 'waiting',
    });
  });

  it("with the call id of the other's question in a session of his own is 404", async () => {
    const { url } = await start();
    const { data } = (await askedOfAlice(url, 'main')).asked;
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as('bob'));
    const { status, body } = await post(
      `${url}/tool-response`,
      { sessionId: 'main', callId: data.callId, approved: true },
      as('bob'),
    );
    expect([status, body.error.code]).to.deep.equal([404, 'CALL_NOT_FOUND']);
    expect(
      (await post(`${url}/abort`, { sessionId: 'main', runId: data.runId }, as('bob'))).body,
    ).to.deep.equal({ aborted: false });
  });

  it("subscribe with the other's connection is CONNECTION_NOT_FOUND, like an unknown one", async () => {
    const { url } = await start();
    const stream = await openStream(`${url}/events`, { headers: as('alice') });
    const { data } = await stream.until(({ event }) => event === 'connected');
    const attempt = (connectionId: string) =>
      post(`${url}/subscribe`, { connectionId, add: ['main'] }, as('bob'));
    const foreign = errorOf(await attempt(data.connectionId));
    expect(foreign).to.deep.equal(errorOf(await attempt('conn_unknown')));
    expect(foreign.status).to.equal(404);
    expect(foreign.error.code).to.equal('CONNECTION_NOT_FOUND');
  });

  it("a cursor of the other's session is a foreign epoch: gap, and none of its data", async () => {
    const { url, body } = await startWithRun('main');
    await post(`${url}/send`, { sessionId: 'main', message: 'mine' }, as('bob'));
    const stream = await openStream(`${url}/events?sessionId=main`, {
      headers: { ...as('bob'), 'last-event-id': body.cursor },
    });
    const gap = await stream.until(({ event }) => event === 'gap');
    expect(gap.data).to.include({ reason: 'epoch', requested: body.cursor });
    await stream.until(({ event }) => event === 'message_end');
    expect(JSON.stringify(stream.events)).not.to.include('alice');
    const page = await get(`${url}/history?sessionId=main&before=${body.cursor.split('.')[0]}.2`, as('bob'));
    expect(page.body.error.code).to.equal('CURSOR_GONE');
  });

  it("an idempotency key of the other's starts a run of one's own", async () => {
    const { url } = await start();
    const body = { sessionId: 'main', message: 'hi', idempotencyKey: 'same' };
    const [mine, yours] = [
      await post(`${url}/send`, body, as('alice')),
      await post(`${url}/send`, body, as('bob')),
    ];
    expect(yours.body.message.content[0].text).to.equal('secret of bob');
    expect(yours.body.runId).not.to.equal(mine.body.runId);
  });

  it("a vector with the other's cursors restores nothing of theirs", async () => {
    const { url, body } = await startWithRun('private');
    const stream = await openStream(`${url}/events`, {
      headers: { ...as('bob'), 'last-event-id': `~private=${body.cursor}` },
    });
    await stream.until(({ event }) => event === 'gap');
    await post(`${url}/send`, { sessionId: 'private', message: 'hi' }, as('bob'));
    await stream.until(({ event }) => event === 'message_end');
    expect(JSON.stringify(stream.events)).not.to.include('alice');
  });
});

describe('sessionScope', () => {
  const shared = async (config: Partial<GatewayConfig<any>>, one: string, two: string): Promise<boolean> => {
    const { url } = await start(config);
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, as(one));
    return (await get(`${url}/history?sessionId=main`, as(two))).status === 200;
  };

  it('tenant: colleagues share a session, other tenants and users without one do not', async () => {
    expect(await shared({ sessionScope: 'tenant' }, 'acme/alice', 'acme/bob')).to.equal(true);
    expect(await shared({ sessionScope: 'tenant' }, 'acme/alice', 'other/alice')).to.equal(false);
    const { url } = await start({ sessionScope: 'tenant' });
    expect((await get(`${url}/sessions`, as('alice'))).status).to.equal(401);
  });

  it('global: everybody shares', async () => {
    expect(await shared({ sessionScope: 'global' }, 'acme/alice', 'bob')).to.equal(true);
  });

  it('a function of the user', async () => {
    const sessionScope = ({ id }: { id: string }): string => id.slice(0, 1);
    expect(await shared({ sessionScope }, 'alice', 'adam')).to.equal(true);
    expect(await shared({ sessionScope }, 'alice', 'bob')).to.equal(false);
  });

  it("subscribe with a colleague's connection is refused in a shared scope too", async () => {
    const { url } = await start({ sessionScope: 'global' });
    const stream = await openStream(`${url}/events`, { headers: as('alice') });
    const { data } = await stream.until(({ event }) => event === 'connected');
    expect(
      (await post(`${url}/subscribe`, { connectionId: data.connectionId, add: ['main'] }, as('bob'))).status,
    ).to.equal(404);
  });
});

describe('sessionAccess', () => {
  const access = (sessionAccess: NonNullable<GatewayConfig['sessionAccess']>) =>
    startGateway({ app: echo, sessionAccess });

  it('a refusal is SESSION_NOT_FOUND on every operation, and the session is not listed', async () => {
    const asked: string[] = [];
    const { url } = await access((_user, { sessionId }, operation) => {
      if (sessionId === 'shut') asked.push(operation);
      return sessionId !== 'shut' || operation === 'send';
    });
    await post(`${url}/send`, { sessionId: 'shut', message: 'hi' });
    await post(`${url}/send`, { sessionId: 'free', message: 'hi' });
    const stream = await openStream(`${url}/events`, { headers: jsonHeaders() });
    const { data } = await stream.until(({ event }) => event === 'connected');
    const answers = [
      await get(`${url}/history?sessionId=shut`),
      await get(`${url}/status?sessionId=shut`),
      await get(`${url}/run?sessionId=shut&runId=run_1`),
      await get(`${url}/events?sessionId=shut`),
      await post(`${url}/abort`, { sessionId: 'shut' }),
      await post(`${url}/close`, { sessionId: 'shut' }),
      await post(`${url}/update`, { sessionId: 'shut', title: 'mine' }),
      await post(`${url}/channel`, { sessionId: 'shut', channel: 'c', payload: 1 }),
      await post(`${url}/tool-response`, { sessionId: 'shut', callId: 'c', approved: true }),
      await post(`${url}/subscribe`, { connectionId: data.connectionId, add: ['shut'] }),
    ];
    for (const answer of answers)
      expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'SESSION_NOT_FOUND']);
    expect((await get(`${url}/sessions`)).body.sessions.map(({ sessionId }: any) => sessionId)).to.deep.equal(
      ['free'],
    );
    expect(new Set(asked)).to.deep.equal(
      new Set([
        'send',
        'history',
        'status',
        'run',
        'events',
        'abort',
        'close',
        'update',
        'channel',
        'tool-response',
        'sessions',
      ]),
    );
  });

  it('one that throws, rejects, or says anything but true refuses', async () => {
    const answers: (() => any)[] = [
      () => {
        throw new Error('broken');
      },
      async () => {
        throw new Error('broken');
      },
      async () => 'yes',
      () => 1,
      async () => false,
    ];
    for (const answer of answers) {
      const { url } = await access(answer);
      expect(
        (await post(`${url}/send`, { sessionId: 'main', message: 'hi' })).status,
        String(answer),
      ).to.equal(404);
    }
  });
});
