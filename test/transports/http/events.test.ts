import { expect } from 'chai';
import { defineApp, PROTOCOL_VERSION, tool } from '../../../server/index.js';
import { echo, heldApp } from '../../support/apps.js';
import { get, jsonHeaders, post, startGateway, TOKEN } from '../../support/gateway.js';
import { openStream, type RawEvent, type RawStream } from '../../support/sse-client.js';

const headers = { authorization: `Bearer ${TOKEN}` };
const events = (url: string, query: string, more = {}): Promise<RawStream> =>
  openStream(`${url}/events?${query}`, { headers: { ...headers, ...more } });
const seqOf = (cursor: string): number => Number(cursor.split('.')[2]);

describe('GET /events', () => {
  it('is text/event-stream that nobody may cache, transform or buffer', async () => {
    const { url } = await startGateway({ app: echo });
    const { response } = await events(url, 'sessionId=main');
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).to.equal('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
    expect(response.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('connected comes first, without an id, then a heartbeat', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const stream = await events(url, 'sessionId=main');
    const beat = await stream.until(({ event }) => event === 'heartbeat');
    const [connected] = stream.events;
    expect(connected!.event).to.equal('connected');
    expect(connected).not.to.have.property('id');
    const { connectionId, sessions, ...rest } = connected!.data;
    expect(rest).to.deep.include({
      protocol: PROTOCOL_VERSION,
      gatewayId: gateway.id,
      clientId: connectionId,
      heartbeatMs: 15_000,
    });
    expect(rest).not.to.have.property('authExpiresAt');
    const { epoch, ...info } = sessions.main;
    expect(info).to.include({ first: 1, head: 5, resume: 'new', next: 6, status: 'idle', queued: 0 });
    expect(body.cursor.startsWith(`${epoch}.`)).to.equal(true);
    expect(beat.id).to.equal(body.cursor);
  });

  it('content_delta has delta, tool_use has name, message_end says that the answer is complete', async () => {
    const app = defineApp({
      tools: { look: tool({ handler: () => 'seen' }) },
      async *run(turn) {
        yield 'Hello ';
        yield await turn.callTool('look', {});
      },
    });
    const { url } = await startGateway({ app });
    const stream = await events(url, 'sessionId=main');
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const end = await stream.until(({ event }) => event === 'message_end');
    expect(stream.logged.map(({ event }) => event)).to.deep.equal([
      ...[
        'message_accepted',
        'message_start',
        'content_delta',
        'tool_use',
        'tool_result',
        'content_delta',
        'message_end',
      ],
    ]);
    expect(stream.logged[2]!.data).to.include({ delta: 'Hello ', index: 0 });
    expect(stream.logged[3]!.data).to.include({ name: 'look' });
    expect(end.data).to.include({ stopReason: 'end' });
    expect(end.data.message).to.include({ role: 'assistant' });
    expect(end.data.message.content.map(({ type }: any) => type)).to.deep.equal([
      'text',
      'tool_use',
      'tool_result',
      'text',
    ]);
  });

  it('every logged event has sessionId, cursor, ts and runId, its id is its cursor, and numbers are dense', async () => {
    const { url } = await startGateway({ app: echo });
    const stream = await events(url, 'sessionId=main');
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await stream.until(({ event }) => event === 'message_end');
    for (const { id, data } of stream.logged) {
      expect(data).to.include.keys('sessionId', 'cursor', 'ts', 'runId');
      expect(data).not.to.have.property('type');
      expect(id).to.equal(data.cursor);
    }
    expect(stream.logged.map(({ data }) => seqOf(data.cursor))).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('from=now is the default: only what comes later', async () => {
    const { url } = await startGateway({ app: echo });
    await post(`${url}/send`, { sessionId: 'main', message: 'one' });
    const stream = await events(url, 'sessionId=main');
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'two' });
    await stream.until(({ event }) => event === 'message_end');
    expect(seqOf(stream.logged[0]!.id!)).to.equal(6);
  });

  it('from=earliest: everything that is kept', async () => {
    const { url } = await startGateway({ app: echo });
    await post(`${url}/send`, { sessionId: 'main', message: 'one' });
    const stream = await events(url, 'sessionId=main&from=earliest');
    await stream.until(({ event }) => event === 'message_end');
    expect(stream.events[0]!.data.sessions.main).to.include({ next: 1, resume: 'new' });
    expect(stream.logged.map(({ data }) => seqOf(data.cursor))).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('from=run: the active run from its start, else now', async () => {
    const { app, began, held } = heldApp();
    const { url } = await startGateway({ apps: { app, echo }, defaultApp: 'app' });
    await post(`${url}/send`, { sessionId: 'echo:main', message: 'old' });
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
    await began.passed;
    const stream = await events(url, 'sessionId=main&from=run');
    await stream.until(({ event }) => event === 'content_delta');
    held.open();
    await stream.until(({ event }) => event === 'message_end');
    expect(stream.logged[0]!.event).to.equal('message_accepted');
    const idle = await events(url, 'sessionId=echo:main&from=run');
    await idle.until(({ event }) => event === 'connected');
    expect(idle.events[0]!.data.sessions['echo:main']).to.include({ next: 6 });
  });

  it('from=snapshot: the folded state first, without a gap, then the tail', async () => {
    const { url } = await startGateway({ app: echo });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'one' });
    const stream = await events(url, 'sessionId=main&from=snapshot');
    const { data } = await stream.until(({ event }) => event === 'snapshot');
    expect(data).to.include({ sessionId: 'main', cursor: body.cursor });
    expect(data.state.messages).to.have.length(2);
    expect(data.state).to.deep.include({ run: null, pending: [], queue: [], hasMore: false, closed: false });
    await post(`${url}/send`, { sessionId: 'main', message: 'two' });
    await stream.until(({ event }) => event === 'message_end');
    expect(seqOf(stream.logged[0]!.id!)).to.equal(seqOf(body.cursor) + 1);
    expect(stream.events.some(({ event }) => event === 'gap')).to.equal(false);
  });

  it('Last-Event-ID resumes exactly, at every place; lastEventId in the query does the same', async () => {
    const { url } = await startGateway({ app: echo });
    await post(`${url}/send`, { sessionId: 'main', message: 'one' });
    const whole = await events(url, 'sessionId=main&from=earliest');
    await whole.until(({ event }) => event === 'message_end');
    for (const [at, { id }] of whole.logged.entries()) {
      if (at === whole.logged.length - 1) break;
      for (const resumed of [
        await events(url, 'sessionId=main', { 'last-event-id': id }),
        await events(url, `sessionId=main&lastEventId=${id}`),
      ]) {
        await resumed.until(({ event }) => event === 'message_end');
        expect(resumed.logged).to.deep.equal(whole.logged.slice(at + 1));
        expect(resumed.events[0]!.data.sessions.main).to.include({ resume: 'exact', next: at + 2 });
      }
    }
  });

  const bad: Record<string, (cursor: string) => string> = {
    malformed: () => 'not-a-cursor',
    epoch: (cursor) => cursor.replace(/^[^.]*/, 'AAAAAAAAAAA'),
    ahead: (cursor) => cursor.replace(/\d+$/, '999'),
  };
  for (const [reason, change] of Object.entries(bad)) {
    it(`a cursor that proves nothing (${reason}) is answered with gap, then snapshot, before anything else`, async () => {
      const { url } = await startGateway({ app: echo });
      const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'one' });
      const requested = change(body.cursor);
      const stream = await events(url, 'sessionId=main', { 'last-event-id': requested });
      const snapshot = await stream.until(({ event }) => event === 'snapshot');
      const [connected, , gap] = stream.events;
      expect(connected!.data.sessions.main).to.include({ resume: 'gap' });
      expect(gap!.event).to.equal('gap');
      expect(gap!.data).to.include({ sessionId: 'main', reason, requested, first: 1, head: 5 });
      await post(`${url}/send`, { sessionId: 'main', message: 'two' });
      await stream.until(({ event, data }) => event === 'message_end' && seqOf(data.cursor) === 10);
      expect(seqOf(stream.logged[0]!.id!)).to.equal(seqOf(snapshot.data.cursor) + 1);
    });
  }

  it('a closed session begins anew for those who follow it: gap epoch, empty snapshot, then seq 1', async () => {
    const { url } = await startGateway({ app: echo });
    const stream = await events(url, 'sessionId=main');
    await stream.until(({ event }) => event === 'connected');
    await post(`${url}/send`, { sessionId: 'main', message: 'one' });
    await post(`${url}/close`, { sessionId: 'main' });
    const again = await post(`${url}/send`, { sessionId: 'main', message: 'two' });
    await stream.until(({ event, data }) => event === 'message_end' && data.runId === again.body.runId);
    const types = stream.events.map(({ event }) => event);
    const at = types.indexOf('session_closed');
    expect(types.slice(at, at + 4)).to.deep.equal(['session_closed', 'gap', 'snapshot', 'message_accepted']);
    expect(stream.events[at + 1]!.data).to.include({ reason: 'epoch' });
    expect(stream.events[at + 2]!.data.state.messages).to.deep.equal([]);
    expect(seqOf(stream.events[at + 2]!.data.cursor)).to.equal(0);
    expect(seqOf(stream.events[at + 3]!.data.cursor)).to.equal(1);
    expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(2);
  });

  it('many viewers see the same events in the same order', async () => {
    const { url } = await startGateway({ app: echo });
    const streams = await Promise.all(Array.from({ length: 10 }, () => events(url, 'sessionId=main')));
    await Promise.all(streams.map((stream) => stream.until(({ event }) => event === 'connected')));
    await Promise.all([1, 2, 3].map((n) => post(`${url}/send`, { sessionId: 'main', message: String(n) })));
    for (const stream of streams) {
      await stream.until(() => stream.logged.filter(({ event }) => event === 'message_end').length === 3);
      expect(stream.logged).to.deep.equal(streams[0]!.logged);
    }
  });

  it('texts of any length and alphabet arrive whole, as they are written and later', async () => {
    const texts = ['x', 'é', '漢👩\u200d👧'].flatMap((letters) =>
      [1, 4_000, 40_000].map((count) => letters.repeat(count)),
    );
    const app = defineApp({
      async *run() {
        yield* texts;
      },
    });
    const { url } = await startGateway({ app });
    const read = async (query: string): Promise<RawEvent[]> => {
      const stream = await events(url, query);
      await stream.until(({ event }) => event === 'connected');
      if (!query.includes('from')) await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
      await stream.until(({ event }) => event === 'message_end');
      return stream.logged;
    };
    const live = await read('sessionId=main');
    const deltas = live.filter(({ event }) => event === 'content_delta');
    expect(deltas.map(({ data }) => data.delta)).to.deep.equal(texts);
    expect(await read('sessionId=main&from=earliest')).to.deep.equal(live);
  });

  it('the same session twice in the query is one', async () => {
    const { url } = await startGateway({ app: echo });
    const stream = await openStream(`${url}/events?sessionId=main&sessionId=default:main`, {
      headers: jsonHeaders(),
    });
    const { data } = await stream.until(({ event }) => event === 'connected');
    expect(Object.keys(data.sessions)).to.deep.equal(['main']);
    await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    await stream.until(({ event }) => event === 'message_end');
    expect(stream.logged).to.have.length(5);
  });
});
