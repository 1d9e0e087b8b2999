import { expect } from 'chai';
import { z } from 'zod';
import { defineApp, type Turn, tool } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { openStream, postStream, type RawStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

type Run = (turn: Turn) => unknown;

/** Starts a gateway whose app runs `run`, sends one message and returns the stream of its run, to its end. */
async function runOnce(run: Run, params: Record<string, unknown> = {}): Promise<RawStream> {
  const { url } = await startGateway({
    app: defineApp({ run: run as () => Promise<string> }),
    clientMessages: { roles: ['user', 'assistant', 'system'] },
  });
  const stream = await postStream(`${url}/send`, { sessionId: 'main', message: 'hi', ...params });
  await stream.ended;
  return stream;
}

const end = (stream: RawStream) => stream.logged.find(({ event }) => event === 'message_end')!.data;
const of = (stream: RawStream, type: string) =>
  stream.events.filter(({ event }) => event === type).map(({ data }) => data);

describe('what a turn gives its app', () => {
  it('a signal that many listen to at once, without a warning of a leak', async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error): void => void warnings.push(message);
    closeLater(warned, (listener) => process.off('warning', listener));
    process.on('warning', warned);
    await runOnce(async ({ signal, sleep }) => {
      for (let n = 0; n < 20; n++) signal.addEventListener('abort', () => {});
      await Promise.all(Array.from({ length: 20 }, (_, n) => sleep(`nap ${n}`, 1)));
    });
    await new Promise(setImmediate);
    expect(warnings).to.deep.equal([]);
  });

  it('text, message, history, user, session, runId, metadata, and empty clientTools and parameters', async () => {
    const seen: Turn[] = [];
    const app = defineApp({
      run: async (turn) => {
        seen.push(turn);
        return `answer ${seen.length}`;
      },
    });
    const { url } = await startGateway({ apps: { app }, defaultApp: 'app', auth: byName });
    const first = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'one', metadata: { page: 3 } },
      as('acme/alice'),
    );
    await post(
      `${url}/send`,
      {
        sessionId: 'main',
        message: [
          { type: 'text', text: 'tw' },
          { type: 'text', text: 'o' },
        ],
      },
      as('acme/alice'),
    );
    const [one, two] = seen as [Turn, Turn];
    expect(one.text).to.equal('one');
    expect(one.message).to.include({ role: 'user' });
    expect(one.history).to.deep.equal([]);
    expect(one.user).to.deep.equal({ id: 'alice', tenantId: 'acme' });
    expect(one.session).to.include({ id: 'main', app: 'app' });
    expect(one.session.epoch).to.be.a('string').and.equal(two.session.epoch);
    expect(one.runId).to.equal(first.body.runId);
    expect(one.metadata).to.deep.equal({ page: 3 });
    expect(one.clientTools).to.deep.equal([]);
    expect(one.parameters).to.deep.equal({});
    expect(one.signal.aborted).to.equal(false);
    expect(two.text).to.equal('two');
    expect(two.metadata).to.deep.equal({});
    expect(two.history.map(({ role, content }) => [role, content])).to.deep.equal([
      ['user', [{ type: 'text', text: 'one' }]],
      ['assistant', [{ type: 'text', text: 'answer 1' }]],
    ]);
  });

  it('messages: the last one is answered, the others are its history', async () => {
    const stream = await runOnce(
      async (turn) => `${turn.history.map(({ role }) => role).join('+')}: ${turn.text}`,
      {
        message: undefined,
        messages: [{ role: 'system', content: 'be brief' }, { role: 'assistant', content: 'ok' }, 'now'],
      },
    );
    expect(end(stream).message.content[0].text).to.equal('system+assistant: now');
  });

  it("a caller's own message id, role and metadata are kept", async () => {
    const message = { id: 'mine-1', content: 'hi', metadata: { tag: 'x' } };
    const stream = await runOnce(async (turn) => JSON.stringify(turn.message.metadata), { message });
    expect(of(stream, 'message_accepted')[0].message).to.include({ id: 'mine-1', role: 'user' });
    expect(end(stream).message.content[0].text).to.equal('{"tag":"x"}');
  });

  it('user and session come from authentication, whatever the body says', async () => {
    const app = defineApp({ run: async (turn) => `${turn.user?.id}/${turn.session.id}` });
    const { url } = await startGateway({ app, auth: byName });
    const body = {
      sessionId: 'main',
      message: 'hi',
      metadata: { user: { id: 'root' }, userId: 'root' },
    };
    const claiming = await post(
      `${url}/send`,
      { ...body, user: { id: 'root' }, userId: 'root' },
      as('alice'),
    );
    expect(claiming.body.error).to.include({ code: 'INVALID_PARAMS' });
    const { body: result } = await post(`${url}/send`, body, as('alice'));
    expect(result.message.content[0].text).to.equal('alice/main');
  });

  it('signal: aborted with a run that is aborted, and not by the end of one', async () => {
    const began = gate();
    const signals: AbortSignal[] = [];
    const app = defineApp({
      async *run(turn) {
        signals.push(turn.signal);
        if (turn.text === 'quick') return;
        began.open();
        await new Promise((_, reject) =>
          turn.signal.addEventListener('abort', () => reject(turn.signal.reason)),
        );
      },
    });
    const { url } = await startGateway({ app });
    await post(`${url}/send`, { sessionId: 'main', message: 'quick' });
    const sending = post(`${url}/send`, { sessionId: 'main', message: 'slow' });
    await began.passed;
    expect((await post(`${url}/abort`, { sessionId: 'main', reason: 'enough' })).body).to.deep.equal({
      aborted: true,
    });
    expect((await sending).body).to.include({ stopReason: 'aborted' });
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false, true]);
    expect(signals[1]!.reason).to.include({ name: 'AbortError', message: 'enough' });
  });

  it('emit: a custom event that is logged and not part of the answer', async () => {
    const stream = await runOnce(async (turn) => {
      turn.emit('task:created', { id: 7 });
      return 'ok';
    });
    expect(of(stream, 'custom')[0]).to.deep.include({
      name: 'task:created',
      payload: { id: 7 },
      sessionId: 'main',
    });
    expect(end(stream).message.content).to.deep.equal([{ type: 'text', text: 'ok' }]);
  });

  it('publish: an event on a channel of the session', async () => {
    const stream = await runOnce(async (turn) => {
      turn.publish('news', { n: 1 });
      turn.publish('news', { n: 2 }, { type: 'flash' });
    });
    expect(of(stream, 'channel').map(({ channel, event }) => [channel, event])).to.deep.equal([
      ['news', { type: 'message', payload: { n: 1 } }],
      ['news', { type: 'flash', payload: { n: 2 } }],
    ]);
  });

  it('data: creates a block of the answer, and replaces it by its id', async () => {
    const stream = await runOnce(async (turn) => {
      const id = turn.data('chart', { points: 1 });
      turn.data('chart', { points: 2 }, { id });
      turn.data('note', 'n', { id: 'own' });
    });
    const [chart, note] = end(stream).message.content;
    expect(chart).to.deep.include({ type: 'data', name: 'chart', value: { points: 2 } });
    expect(note).to.deep.equal({ type: 'data', id: 'own', name: 'note', value: 'n' });
    expect(of(stream, 'data')).to.have.length(3);
  });

  it('annotate: merges metadata into the answer', async () => {
    const stream = await runOnce(async (turn) => {
      turn.annotate({ model: 'a', seed: 1 });
      turn.annotate({ model: 'b' });
      return 'ok';
    });
    expect(end(stream).message.metadata).to.deep.equal({ model: 'b', seed: 1 });
  });

  it('usage: adds counts up, those of the result too', async () => {
    const stream = await runOnce(async (turn) => {
      turn.usage({ inputTokens: 3, outputTokens: 1 });
      turn.usage({ inputTokens: 2 });
      return { text: 'ok', usage: { outputTokens: 4 } };
    });
    expect(end(stream).usage).to.deep.equal({ inputTokens: 5, outputTokens: 5 });
  });

  it('steered: takes the messages that were sent to steer, and their runs end as steered', async () => {
    const [began, steer] = [gate(), gate()];
    const app = defineApp({
      async *run(turn) {
        began.open();
        await steer.passed;
        yield turn
          .steered()
          .map(({ content }) => (content[0] as { text: string }).text)
          .join();
        yield ` then ${turn.steered().length}`;
      },
    });
    const { url } = await startGateway({ app });
    const sending = post(`${url}/send`, { sessionId: 'main', message: 'go' });
    await began.passed;
    const steering = post(`${url}/send`, { sessionId: 'main', message: 'left', onBusy: 'steer' });
    const other = await post(
      `${url}/send`,
      { sessionId: 'main', message: 'right', onBusy: 'steer' },
      { prefer: 'respond-async' },
    );
    expect(other.status).to.equal(202);
    while ((await get(`${url}/status?sessionId=main`)).body.queued < 2);
    steer.open();
    const { body } = await sending;
    expect(body.message.content[0].text).to.match(/^(left,right|right,left) then 0$/);
    expect((await steering).body).to.include({ stopReason: 'steered', intoRunId: body.runId });
  });

  it('all of it also when it is taken apart, or copied', async () => {
    const stream = await runOnce(async ({ text, annotate, usage, emit, publish, ...rest }) => {
      annotate({ text });
      usage({ inputTokens: 1 });
      emit('seen', 1);
      publish('tasks', 2);
      const copy = { ...rest };
      const id = copy.data('chart', 3);
      return `${copy.message.role} ${copy.session.id} ${id.length > 0} ${copy.steered().length}`;
    });
    const { message, usage } = end(stream);
    expect(message.content.at(-1)).to.deep.equal({ type: 'text', text: 'user main true 0' });
    expect(message.metadata).to.deep.equal({ text: 'hi' });
    expect(usage).to.deep.equal({ inputTokens: 1 });
    expect(of(stream, 'custom')).to.have.length(1);
    expect(of(stream, 'channel')).to.have.length(1);
    expect(of(stream, 'data')).to.have.length(1);
  });

  it('nothing that has an effect once its run has ended', async () => {
    const turns: Turn[] = [];
    const { url } = await startGateway({
      app: defineApp({
        run: async (turn) => {
          turns.push(turn);
          return 'done';
        },
      }),
    });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'one' });
    const [turn] = turns as [Turn];
    turn.annotate({ late: true });
    turn.usage({ inputTokens: 1 });
    turn.emit('late', 1);
    turn.publish('late', 1);
    expect(turn.data('late', 1)).to.be.a('string');
    expect(turn.steered()).to.deep.equal([]);
    await post(`${url}/send`, { sessionId: 'main', message: 'two' });
    const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: jsonHeaders() });
    await stream.until(({ event, data }) => event === 'message_end' && data.runId !== body.runId);
    for (const type of ['custom', 'channel', 'data']) expect(of(stream, type)).to.deep.equal([]);
    expect(body.message).to.not.have.property('metadata');
  });

  it('ask: asks the person and resolves with the checked answer', async () => {
    const app = defineApp({
      run: async (turn) => {
        const { age } = await turn.ask({
          name: 'age',
          payload: { text: 'How old?' },
          schema: z.object({ age: z.coerce.number() }),
        });
        return `age ${age + 1}`;
      },
    });
    const { url } = await startGateway({ app });
    const stream = await postStream(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const { data } = await stream.until(({ event }) => event === 'input_required');
    expect(data).to.deep.include({ name: 'age', payload: { text: 'How old?' } });
    expect(data.schema).to.include({ type: 'object' });
    const respond = (answer: Record<string, unknown>) =>
      post(`${url}/tool-response`, { sessionId: 'main', callId: data.callId, ...answer });
    const bad = await respond({ output: { age: 'old' } });
    expect(bad.status).to.equal(400);
    expect(bad.body.error.code).to.equal('INVALID_PARAMS');
    expect((await respond({})).status).to.equal(400);
    expect((await respond({ output: { age: '41' } })).body).to.deep.equal({ ok: true });
    await stream.ended;
    expect(of(stream, 'input_result')[0]).to.deep.include({ output: { age: '41' }, by: 'token' });
    expect(end(stream).message.content[0].text).to.equal('age 42');
  });

  it('ask: an answer of approved false is a refusal that the app can catch', async () => {
    const app = defineApp({
      run: async (turn) =>
        turn
          .ask({ name: 'q' })
          .then(String, (error: Error & { denied?: boolean }) => `${error.denied} ${error.message}`),
    });
    const { url } = await startGateway({ app });
    const sending = post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: jsonHeaders() });
    const { data } = await stream.until(({ event }) => event === 'input_required');
    await post(`${url}/tool-response`, {
      sessionId: 'main',
      callId: data.callId,
      approved: false,
      reason: 'not now',
    });
    expect((await sending).body.message.content[0].text).to.equal('true Declined: not now');
  });

  it('callTool: returns what the handler returned and logs the call', async () => {
    const lookup = tool({
      schema: z.object({ name: z.string() }),
      handler: async ({ name }) => ({ found: name.length }),
    });
    const app = defineApp({
      tools: { lookup },
      run: async (turn) => `found ${(await turn.callTool('lookup', { name: 'abc' })).found}`,
    });
    const { url } = await startGateway({ app });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const [use, result, text] = body.message.content;
    expect(use).to.deep.include({ type: 'tool_use', name: 'lookup', input: { name: 'abc' } });
    expect(result).to.deep.include({
      type: 'tool_result',
      callId: use.callId,
      output: { found: 3 },
      isError: false,
    });
    expect(text).to.deep.equal({ type: 'text', text: 'found 3' });
  });
});
