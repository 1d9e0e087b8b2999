import { expect } from 'chai';
import { echo, heldApp } from '../../support/apps.js';
import { get, jsonHeaders, post, startGateway } from '../../support/gateway.js';
import { openStream } from '../../support/sse-client.js';

const body = (message: unknown = 'hi', more = {}): Record<string, unknown> => ({
  sessionId: 'main',
  message,
  ...more,
});
const streamed = (url: string, params: Record<string, unknown>, headers = {}) =>
  openStream(`${url}/send`, {
    method: 'POST',
    headers: { ...jsonHeaders(), ...headers },
    body: JSON.stringify(params),
  });

describe('POST /send', () => {
  it('sessionId and message: by default an SSE stream of the run, which ends with it', async () => {
    const { url } = await startGateway({ app: echo });
    const stream = await streamed(url, body());
    await stream.ended;
    expect(stream.response.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(stream.events.map(({ event }) => event)).to.deep.equal([
      ...['message_accepted', 'message_start', 'content_delta', 'content_delta', 'message_end'],
    ]);
    for (const { id, data } of stream.events) expect(id).to.equal(data.cursor);
    expect(new Set(stream.events.map(({ data }) => data.runId)).size).to.equal(1);
  });

  it('Accept: application/json waits and answers with the result', async () => {
    const { url } = await startGateway({ app: echo });
    const answer = await post(`${url}/send`, body());
    expect(answer.headers.get('content-type')).to.match(/^application\/json/);
    expect(answer.body).to.have.all.keys('runId', 'message', 'stopReason', 'cursor');
    expect(answer.body.message).to.deep.include({
      role: 'assistant',
      content: [{ type: 'text', text: 'echo: hi' }],
    });
  });

  it('Accept with both, or with anything: the stream', async () => {
    const { url } = await startGateway({ app: echo });
    for (const accept of ['text/event-stream', '*/*', 'application/json, text/event-stream']) {
      const stream = await streamed(url, body(), { accept });
      await stream.ended;
      expect(stream.events.at(-1)!.event, accept).to.equal('message_end');
    }
  });

  it('Prefer: respond-async answers 202 at acceptance; its cursor is just before message_accepted', async () => {
    const { app, held } = heldApp();
    const { url } = await startGateway({ app });
    const answer = await post(`${url}/send`, body(), { prefer: 'wait=5, respond-async' });
    expect(answer.status).to.equal(202);
    expect(answer.headers.get('preference-applied')).to.equal('respond-async');
    expect(answer.body).to.have.all.keys('runId', 'message', 'position', 'cursor');
    expect(answer.body.message).to.deep.include({ role: 'user', content: [{ type: 'text', text: 'hi' }] });
    held.open();
    const stream = await openStream(`${url}/events?sessionId=main`, {
      headers: { ...jsonHeaders(), 'last-event-id': answer.body.cursor },
    });
    await stream.until(({ event }) => event === 'message_end');
    expect(stream.logged[0]).to.deep.include({ event: 'message_accepted' });
    expect(stream.logged[0]!.data.runId).to.equal(answer.body.runId);
    expect(stream.events[0]!.data.sessions.main).to.include({ resume: 'exact' });
  });

  it('streams only its own run of the session', async () => {
    const { app, began, held } = heldApp();
    const { url } = await startGateway({ app });
    const [first, second] = [await streamed(url, body('one')), await streamed(url, body('two'))];
    await began.passed;
    await second.until(({ event }) => event === 'message_accepted');
    held.open();
    await Promise.all([first.ended, second.ended]);
    for (const stream of [first, second]) {
      expect(new Set(stream.events.map(({ data }) => data.runId)).size).to.equal(1);
      expect(stream.events.map(({ event }) => event)).to.deep.equal([
        ...['message_accepted', 'message_start', 'content_delta', 'content_delta', 'message_end'],
      ]);
    }
    expect(second.events[0]!.data.position).to.equal(1);
  });

  it('a sender who goes away does not end the run', async () => {
    const { app, began, held } = heldApp();
    const { gateway, url } = await startGateway({ app });
    const ended = new Promise<{ stopReason: string }>((resolve) => void gateway.on('run:ended', resolve));
    const stream = await streamed(url, body());
    await began.passed;
    stream.close();
    await stream.ended;
    held.open();
    expect(await ended).to.include({ stopReason: 'end' });
  });

  it('messages: only the last is answered; message and messages exclude each other', async () => {
    const { url } = await startGateway({ app: echo });
    const answer = await post(`${url}/send`, { sessionId: 'main', messages: ['one', 'two'] });
    expect(answer.body.message.content[0].text).to.equal('echo: two');
    expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(3);
  });
});

describe('POST /send with an idempotency key', () => {
  it('the same key and body is the same run, while it runs and after, in every form of answer', async () => {
    const { app, began, held } = heldApp();
    const { url } = await startGateway({ app });
    const keyed = body('hi', { idempotencyKey: 'k' });
    const first = await post(`${url}/send`, keyed, { prefer: 'respond-async' });
    await began.passed;
    const running = await streamed(url, keyed);
    await running.until(({ event }) => event === 'content_delta');
    held.open();
    await running.ended;
    const after = await streamed(url, keyed);
    await after.ended;
    expect(after.events).to.deep.equal(running.events);
    expect(after.events[0]!.event).to.equal('message_accepted');
    const json = await post(`${url}/send`, keyed);
    expect(json.body).to.include({ runId: first.body.runId, stopReason: 'end' });
    const async = await post(`${url}/send`, keyed, { prefer: 'respond-async' });
    expect([async.status, async.body]).to.deep.equal([202, first.body]);
    expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(2);
  });

  it('with Last-Event-ID a repeated stream goes on from there, and ends in any case', async () => {
    const { url } = await startGateway({ app: echo });
    const keyed = body('hi', { idempotencyKey: 'k' });
    const { cursor } = (await post(`${url}/send`, keyed)).body;
    const from = async (id: string): Promise<string[]> => {
      const stream = await streamed(url, keyed, { 'last-event-id': id });
      await stream.ended;
      return stream.events.map(({ event }) => event);
    };
    expect(await from(cursor.replace(/\d+$/, '3'))).to.deep.equal(['content_delta', 'message_end']);
    expect(await from(cursor)).to.deep.equal([]);
    expect((await from('nonsense')).slice(0, 2)).to.deep.equal(['gap', 'snapshot']);
  });

  it('the Idempotency-Key header is the same as the field, which wins', async () => {
    const { url } = await startGateway({ app: echo });
    const first = await post(`${url}/send`, body(), { 'idempotency-key': 'k1' });
    const field = await post(`${url}/send`, body('hi', { idempotencyKey: 'k1' }), {
      'idempotency-key': 'k2',
    });
    expect(field.body.runId).to.equal(first.body.runId);
    const other = await post(`${url}/send`, body(), { 'idempotency-key': 'k2' });
    expect(other.body.runId).not.to.equal(first.body.runId);
  });

  it('the same key with another body is 422 IDEMPOTENCY_CONFLICT and starts nothing', async () => {
    const { url } = await startGateway({ app: echo });
    await post(`${url}/send`, body('hi', { idempotencyKey: 'k' }));
    for (const other of [
      body('other', { idempotencyKey: 'k' }),
      body('hi', { idempotencyKey: 'k', metadata: { a: 1 } }),
    ]) {
      const { status, body: answer } = await post(`${url}/send`, other);
      expect([status, answer.error.code]).to.deep.equal([422, 'IDEMPOTENCY_CONFLICT']);
    }
    expect((await get(`${url}/history?sessionId=main`)).body.messages).to.have.length(2);
  });

  it('many sends of one key at once start one run', async () => {
    const { gateway, url } = await startGateway({ app: echo });
    let runs = 0;
    gateway.on('run:started', () => {
      runs += 1;
    });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => post(`${url}/send`, body('hi', { idempotencyKey: 'k' }))),
    );
    expect(new Set(answers.map(({ body: { runId } }) => runId)).size).to.equal(1);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
    expect(runs).to.equal(1);
  });

  it('a key is kept over a close of the session: no second run', async () => {
    const { url } = await startGateway({ app: echo });
    const first = await post(`${url}/send`, body('hi', { idempotencyKey: 'k' }));
    await post(`${url}/close`, { sessionId: 'main' });
    const again = await post(`${url}/send`, body('hi', { idempotencyKey: 'k' }));
    expect(again.body).to.include({ runId: first.body.runId, stopReason: 'end' });
    expect((await get(`${url}/status?sessionId=main`)).status).to.equal(404);
  });
});

describe('POST /send while the session is busy', () => {
  const running = async () => {
    const { app, began, held } = heldApp();
    const { url } = await startGateway({ app });
    const first = post(`${url}/send`, body('one'));
    await began.passed;
    return { url, first, held };
  };

  it('queue is the default: in order, one at a time', async () => {
    const { url, first, held } = await running();
    const second = await post(`${url}/send`, body('two'), { prefer: 'respond-async' });
    const third = post(`${url}/send`, body('three'));
    expect(second.body.position).to.equal(1);
    held.open();
    expect((await first).body).to.include({ stopReason: 'end' });
    expect((await third).body).to.include({ stopReason: 'end' });
    const texts = (await get(`${url}/history?sessionId=main`)).body.messages.map(
      ({ content }: any) => content[0].text,
    );
    expect(texts).to.deep.equal([
      'one',
      'working done with one',
      'two',
      'working done with two',
      'three',
      'working done with three',
    ]);
  });

  it('reject: 409 SESSION_BUSY, and nothing is logged', async () => {
    const { url, first, held } = await running();
    const head = (await get(`${url}/status?sessionId=main`)).body.head;
    const { status, body: answer } = await post(`${url}/send`, body('two', { onBusy: 'reject' }));
    expect([status, answer.error.code]).to.deep.equal([409, 'SESSION_BUSY']);
    expect((await get(`${url}/status?sessionId=main`)).body.head).to.equal(head);
    held.open();
    await first;
  });

  it('interrupt: the active run ends as superseded and this one goes first', async () => {
    const { url, first, held } = await running();
    const queued = post(`${url}/send`, body('queued'));
    while ((await get(`${url}/status?sessionId=main`)).body.queued === 0);
    const urgent = post(`${url}/send`, body('urgent', { onBusy: 'interrupt' }));
    expect((await first).body).to.include({ stopReason: 'superseded' });
    held.open();
    expect((await urgent).body.message.content[0].text).to.equal('working done with urgent');
    expect((await queued).body).to.include({ stopReason: 'end' });
    const texts = (await get(`${url}/history?sessionId=main`)).body.messages.filter(
      ({ role }: any) => role === 'user',
    );
    expect(texts.map(({ content }: any) => content[0].text)).to.deep.equal(['one', 'urgent', 'queued']);
  });

  it('steer that is not taken becomes the next turn', async () => {
    const { url, first, held } = await running();
    const steered = await post(`${url}/send`, body('left', { onBusy: 'steer' }), { prefer: 'respond-async' });
    held.open();
    expect((await first).body).to.include({ stopReason: 'end' });
    const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: jsonHeaders() });
    const end = await stream.until(
      ({ event, data }) => event === 'message_end' && data.runId === steered.body.runId,
    );
    expect(end.data).to.include({ stopReason: 'end' });
    expect(end.data.message.content[0].text).to.equal('working done with left');
  });
});
