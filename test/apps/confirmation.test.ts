import { expect } from 'chai';
import { z } from 'zod';
import { defineApp, type Tool, tool } from '../../server/index.js';
import { get, jsonHeaders, post, startGateway } from '../support/gateway.js';
import { openStream, type RawStream } from '../support/sse-client.js';

interface Asked {
  readonly url: string;
  readonly callId: string;
  /** What was asked. */
  readonly data: any;
  readonly inputs: unknown[];
  readonly stream: RawStream;
  respond(answer: Record<string, unknown>): ReturnType<typeof post>;
  /** The text of the answer, once the run has ended. */
  text(): Promise<string>;
}

/** Starts a run that calls a tool which asks first, and waits for the question. */
async function ask(parts: Partial<Tool<any, any>> = {}, limits = {}): Promise<Asked> {
  const inputs: unknown[] = [];
  const erase = tool({
    schema: z.object({ path: z.string() }),
    confirm: true,
    confirmMessage: 'Really?',
    handler: (input) => {
      inputs.push(input);
      return 'erased';
    },
    ...(parts as object),
  });
  const app = defineApp({
    tools: { erase },
    run: async (turn) =>
      turn.callTool('erase', { path: '/a' }).then(String, (error: Error) => `failed: ${error.message}`),
  });
  const { url } = await startGateway({ app, limits });
  const stream = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
  await stream.until(({ event }) => event === 'connected');
  await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
  const { data } = await stream.until(({ event }) => event === 'tool_confirmation_required');
  return {
    url,
    callId: data.callId,
    data,
    inputs,
    stream,
    respond: (answer) => post(`${url}/tool-response`, { sessionId: 'main', callId: data.callId, ...answer }),
    text: async () => {
      const end = await stream.until(({ event }) => event === 'message_end');
      return end.data.message.content.map((block: { text?: string }) => block.text ?? '').join('');
    },
  };
}

describe('a confirmation', () => {
  it('asks with name, input and message before the handler runs, and the session is waiting', async () => {
    const { url, data, inputs, respond, text } = await ask();
    expect(data).to.deep.include({ name: 'erase', input: { path: '/a' }, message: 'Really?' });
    expect(inputs).to.deep.equal([]);
    expect((await get(`${url}/status?sessionId=main`)).body).to.include({ status: 'waiting' });
    await respond({ approved: true });
    expect(await text()).to.equal('erased');
  });

  it('approved: the handler runs, and everybody hears who said so', async () => {
    const { inputs, respond, stream, text } = await ask();
    expect((await respond({ approved: true })).body).to.deep.equal({ ok: true });
    expect(await text()).to.equal('erased');
    expect(inputs).to.deep.equal([{ path: '/a' }]);
    const result = stream.events.find(({ event }) => event === 'tool_confirmation_result')!.data;
    expect(result).to.include({ approved: true, by: 'token', name: 'erase' });
  });

  it('denied: the handler never runs and the app learns the reason', async () => {
    const { inputs, respond, stream, text } = await ask();
    await respond({ approved: false, reason: 'too risky' });
    expect(await text()).to.equal('failed: Denied: too risky');
    expect(inputs).to.deep.equal([]);
    expect(stream.events.find(({ event }) => event === 'tool_result')!.data).to.include({ isError: true });
  });

  it('approved with a changed input: the handler gets that one', async () => {
    const { inputs, respond, stream, text } = await ask();
    await respond({ approved: true, input: { path: '/b' } });
    expect(await text()).to.equal('erased');
    expect(inputs).to.deep.equal([{ path: '/b' }]);
    const result = stream.events.find(({ event }) => event === 'tool_confirmation_result')!.data;
    expect(result.input).to.deep.equal({ path: '/b' });
  });

  it('a changed input that does not match, and an answer that is none, are refused and leave it open', async () => {
    const { inputs, respond, text } = await ask();
    for (const answer of [
      { approved: true, input: { path: 5 } },
      {},
      { output: 'yes' },
      { approved: 'yes' },
    ]) {
      const { status, body } = await respond(answer);
      expect(status, JSON.stringify(answer)).to.equal(400);
      expect(body.error.code).to.equal('INVALID_PARAMS');
    }
    expect(inputs).to.deep.equal([]);
    expect((await respond({ approved: true })).status).to.equal(200);
    expect(await text()).to.equal('erased');
  });

  it('one answer counts: the second is 409 ALREADY_ANSWERED, also of many at once', async () => {
    const { inputs, respond, text } = await ask();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => respond({ approved: true, input: { path: `/${n}` } })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      200, 409, 409, 409, 409, 409, 409, 409,
    ]);
    for (const { status, body } of answers)
      if (status === 409) expect(body.error.code).to.equal('ALREADY_ANSWERED');
    expect(await text()).to.equal('erased');
    expect(inputs).to.have.length(1);
    expect((await respond({ approved: false })).status).to.equal(409);
  });

  it('an unknown call is 404 CALL_NOT_FOUND', async () => {
    const { respond } = await ask();
    const { status, body } = await respond({ callId: 'call_none', approved: true });
    expect(status).to.equal(404);
    expect(body.error.code).to.equal('CALL_NOT_FOUND');
  });

  it('the end of its run settles it: a late answer is 409', async () => {
    const { url, inputs, respond, stream } = await ask();
    await post(`${url}/abort`, { sessionId: 'main' });
    await stream.until(({ event }) => event === 'message_end');
    expect((await respond({ approved: true })).status).to.equal(409);
    expect(inputs).to.deep.equal([]);
  });

  it('survives a reconnect: the snapshot shows it, another client may answer', async () => {
    const { url, callId, stream, respond } = await ask();
    stream.close();
    const again = await openStream(`${url}/events?sessionId=main&from=snapshot`, { headers: jsonHeaders() });
    const { data } = await again.until(({ event }) => event === 'snapshot');
    expect(data.state.pending).to.have.length(1);
    expect(data.state.pending[0]).to.deep.include({
      callId,
      kind: 'confirmation',
      name: 'erase',
      input: { path: '/a' },
      message: 'Really?',
    });
    const connected = again.events[0]!.data;
    expect(connected.sessions.main).to.include({ status: 'waiting' });
    await respond({ approved: true });
    expect((await again.until(({ event }) => event === 'message_end')).data).to.include({
      stopReason: 'end',
    });
    const later = await openStream(`${url}/events?sessionId=main&from=snapshot`, { headers: jsonHeaders() });
    expect((await later.until(({ event }) => event === 'snapshot')).data.state.pending).to.deep.equal([]);
  });

  it('waiting for a person does not use up the time of the run', async () => {
    const { respond, text, stream } = await ask({}, { runMs: 400, heartbeatMs: 50 });
    const beats = (): number => stream.events.filter(({ event }) => event === 'heartbeat').length;
    const before = beats();
    await stream.until(() => beats() >= before + 12);
    await respond({ approved: true });
    expect(await text()).to.equal('erased');
  });

  it('confirm may be a function of the input: false runs at once', async () => {
    const run = async (path: string): Promise<string[]> => {
      const erase = tool({
        schema: z.object({ path: z.string() }),
        confirm: ({ path: asked }) => asked.startsWith('/etc'),
        handler: () => 'erased',
      });
      const app = defineApp({ tools: { erase }, run: async (turn) => turn.callTool('erase', { path }) });
      const { url } = await startGateway({ app });
      await post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { prefer: 'respond-async' });
      const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, {
        headers: jsonHeaders(),
      });
      await stream.until(({ event }) => event === 'tool_result' || event === 'tool_confirmation_required');
      return stream.logged.map(({ event }) => event).slice(2, 4);
    };
    expect(await run('/tmp/a')).to.deep.equal(['tool_use', 'tool_result']);
    expect(await run('/etc/a')).to.deep.equal(['tool_use', 'tool_confirmation_required']);
  });

  it('a confirm that throws fails the call, it does not run it', async () => {
    let ran = false;
    const erase = tool({
      confirm: () => {
        throw new Error('broken');
      },
      handler: () => {
        ran = true;
      },
    });
    const app = defineApp({
      tools: { erase },
      run: async (turn) => turn.callTool('erase', {}).then(String, (error: Error) => error.message),
    });
    const { url } = await startGateway({ app });
    const { body } = await post(`${url}/send`, { sessionId: 'main', message: 'hi' });
    expect(body.message.content.at(-1).text).to.equal('The tool failed');
    expect(ran).to.equal(false);
  });
});
