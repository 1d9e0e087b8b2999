import { expect } from 'chai';
import { z } from 'zod';
import {
  type Application,
  defineApp,
  type GatewayError,
  isGatewayError,
  type Tool,
  ToolCallError,
  tool,
  toolResult,
} from '../../server/index.js';
import { jsonHeaders, post, startGateway, type TestGateway } from '../support/gateway.js';
import { postStream, type RawStream } from '../support/sse-client.js';

interface Called {
  readonly stream: RawStream;
  readonly gateway: TestGateway;
  readonly outcome: unknown;
}

/** Has an app call one tool with one input; the outcome is what `callTool` returned or threw. */
async function call(one: Tool<any, any>, input: unknown, name = 'it'): Promise<Called> {
  let outcome: unknown;
  const app: Application = defineApp({
    tools: { it: one },
    run: async (turn) => {
      outcome = await turn.callTool(name as 'it', input as never).catch((error: unknown) => error);
      return 'over';
    },
  });
  const gateway = await startGateway({ app });
  const stream = await postStream(`${gateway.url}/send`, { sessionId: 'main', message: 'hi' });
  await stream.ended;
  return { stream, gateway, outcome };
}

const resultOf = ({ stream }: Called) => stream.events.find(({ event }) => event === 'tool_result')!.data;

describe('a tool', () => {
  it('schema: a Standard Schema validates and transforms the input', async () => {
    const called = await call(
      tool({ schema: z.object({ n: z.coerce.number() }), handler: ({ n }) => n * 2 }),
      { n: '21' },
    );
    expect(called.outcome).to.equal(42);
    expect(resultOf(called)).to.include({ name: 'it', output: 42, isError: false });
  });

  it('schema: a plain JSON Schema object validates too', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    expect((await call(tool({ schema, handler: ({ n }) => n }), { n: 1 })).outcome).to.equal(1);
    const refused = await call(tool({ schema, handler: ({ n }) => n }), { n: 'x' });
    expect(refused.outcome).to.be.instanceOf(ToolCallError);
    expect(resultOf(refused)).to.include({ isError: true });
    expect(resultOf(refused).output).to.match(/n/);
  });

  it('schema: input that does not match never reaches the handler', async () => {
    let ran = false;
    const handler = () => {
      ran = true;
    };
    const called = await call(tool({ schema: z.object({ n: z.number() }), handler }), { n: 'x' });
    expect(ran).to.equal(false);
    expect(called.outcome).to.be.instanceOf(ToolCallError).with.property('denied', false);
    const { stream } = called;
    expect(stream.events.find(({ event }) => event === 'message_end')!.data.stopReason).to.equal('end');
  });

  it('handler: gets signal, user, session and callId', async () => {
    const { outcome, stream } = await call(
      tool({
        handler: (_input, { signal, user, session, callId }) => ({
          aborted: signal.aborted,
          user,
          session,
          callId,
        }),
      }),
      {},
    );
    const { callId } = stream.events.find(({ event }) => event === 'tool_use')!.data;
    expect(outcome).to.deep.equal({
      aborted: false,
      user: { id: 'token' },
      session: { id: 'main', app: 'default' },
      callId,
    });
  });

  it('handler: progress is reported, the reports of one turn as the last of them', async () => {
    const called = await call(
      tool({
        handler: async (_input, { progress }) => {
          progress(1, 3);
          progress(2, 3, 'nearly');
        },
      }),
      {},
    );
    const reports = called.stream.events.filter(({ event }) => event === 'tool_progress');
    expect(reports).to.have.length(1);
    expect(reports[0]!.data).to.include({ value: 2, total: 3, message: 'nearly' });
    expect(resultOf(called).output).to.equal(null);
  });

  it('handler: a throw is an error result with a safe message; the text is in the log', async () => {
    const called = await call(
      tool({
        handler: () => {
          throw new Error('secret text');
        },
      }),
      {},
    );
    expect(called.outcome).to.be.instanceOf(ToolCallError).with.property('message', 'The tool failed');
    expect(resultOf(called)).to.include({ output: 'The tool failed', isError: true });
    expect(JSON.stringify(called.stream.events)).not.to.include('secret');
    expect(called.gateway.log.lines.map(({ message }) => message).join()).to.include('tool it failed');
  });

  it('toolResult: content and structured, of which the app gets the structured part', async () => {
    const content = [{ type: 'text', text: 'three' } as const];
    const called = await call(tool({ handler: () => toolResult({ content, structured: { n: 3 } }) }), {});
    expect(called.outcome).to.deep.equal({ n: 3 });
    expect(resultOf(called).output).to.deep.equal({ content, structured: { n: 3 } });
  });

  it('toolResult: isError is an error that the handler words itself', async () => {
    const content = [{ type: 'text', text: 'no such customer' } as const];
    const called = await call(tool({ handler: () => toolResult({ content, isError: true }) }), {});
    expect(called.outcome).to.be.instanceOf(ToolCallError).with.property('message', 'no such customer');
    expect(resultOf(called)).to.include({ output: 'no such customer', isError: true });
  });

  it('a tool that does not exist is an error result, prototype names too', async () => {
    for (const name of ['other', 'constructor', 'toString', '__proto__']) {
      const called = await call(tool({ handler: () => 1 }), {}, name);
      expect(called.outcome, name).to.be.instanceOf(ToolCallError);
      expect(resultOf(called), name).to.include({ name, isError: true });
    }
  });

  it("runsOn client: the session's client answers the call", async () => {
    const app = defineApp({
      tools: { locate: tool({ runsOn: 'client', schema: z.object({ exact: z.boolean() }) }) },
      run: async (turn) => JSON.stringify(await turn.callTool('locate', { exact: true })),
    });
    const { url } = await startGateway({ app });
    const stream = await postStream(`${url}/send`, { sessionId: 'main', message: 'hi' });
    const { data } = await stream.until(({ event }) => event === 'input_required');
    expect(data).to.deep.include({ name: 'locate', payload: { exact: true } });
    expect(data.callId).to.equal(stream.events.find(({ event }) => event === 'tool_use')!.data.callId);
    await post(`${url}/tool-response`, { sessionId: 'main', callId: data.callId, output: { lat: 1 } });
    await stream.ended;
    const end = stream.events.at(-1)!.data;
    expect(end.message.content.map((block: any) => block.output ?? block.text).slice(1)).to.deep.equal([
      { lat: 1 },
      '{"lat":1}',
    ]);
  });

  it('apps lists tools by name and description', async () => {
    const app = defineApp({
      tools: { it: tool({ description: 'Does it', handler: () => 1 }) },
      run: async () => 'x',
    });
    const { url } = await startGateway({ app });
    const { body } = await (await fetch(`${url}/apps`, { headers: jsonHeaders() }))
      .json()
      .then((value: any) => ({ body: value }));
    expect(body.apps[0].tools).to.deep.equal([{ name: 'it', description: 'Does it' }]);
  });
});

describe('toolResult', () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  const failure = (content: unknown): GatewayError | null => {
    try {
      toolResult({ content: content as never });
      return null;
    } catch (error) {
      return error as GatewayError;
    }
  };

  it('refuses blocks that are none when it is made, naming the block and the field', () => {
    const { mediaType, ...rest } = image;
    const cases: [content: unknown, paths: string[]][] = [
      [
        [image, { ...rest, mimeType: mediaType }],
        ['content.1.mediaType', 'content.1.mimeType'],
      ],
      [[{ type: 'text', content: 'x' }], ['content.0.text', 'content.0.content']],
      [[{ type: 'picture' }], ['content.0.type']],
      [['bare text'], ['content.0']],
      ['bare text', ['content']],
      [undefined, ['content']],
    ];
    for (const [content, paths] of cases) {
      const error = failure(content);
      expect(isGatewayError(error), paths.join()).to.equal(true);
      expect(error).to.include({ code: 'INVALID_REQUEST' });
      expect((error!.details as { path: string }[]).map(({ path }) => path)).to.deep.equal(paths);
      for (const path of paths) expect(error!.message).to.contain(path);
    }
  });

  it('takes every kind of block, and passes over fields that are undefined, as JSON does', () => {
    const all = [image, { type: 'text', text: '' }, { type: 'resource', uri: 'doc://1' }] as const;
    expect(toolResult({ content: all }).content).to.deep.equal(all);
    const { content } = toolResult({ content: [{ ...image, url: undefined } as never] });
    expect(content).to.deep.equal([image]);
  });
});
