import { expect } from 'chai';
import { OpenAI } from 'openai';
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { behavesLikeAnAdapter } from '../basics.js';
import { serve } from '../served.js';

async function start(options: object = {}) {
  const endpoint = await ChatEndpoint.start();
  const app = openaiApp({ baseURL: endpoint.url, model: 'tiny', ...options });
  return { endpoint, ...(await serve(app)) };
}

describe('openaiApp', () => {
  it('streams text and reasoning as deltas, with usage and stop reason', async () => {
    const { endpoint, client } = await start({ apiKey: 'a-key', instructions: 'Be kind.' });
    const run = client.send('main', 'Hello');
    const request = await endpoint.next(1);
    expect(request.headers.authorization).to.equal('Bearer a-key');
    expect(request.body).to.deep.equal({
      model: 'tiny',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
      ],
    });
    const text = run.text[Symbol.asyncIterator]();
    request.chunk({ role: 'assistant', content: '', reasoning_content: 'Hm' }).chunk({ reasoning: '.' });
    request.chunk({ content: 'Hi ' });
    expect((await text.next()).value).to.equal('Hi ');
    request.chunk({ content: 'there' }).finish('stop', {
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 2 },
    });
    const { message, stopReason, usage } = await run.result;
    expect(message.content).to.deep.equal([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hi there' },
    ]);
    expect(stopReason).to.equal('end');
    expect(usage).to.deep.equal({
      inputTokens: 3,
      outputTokens: 4,
      totalTokens: 7,
      cachedInputTokens: 1,
      reasoningTokens: 2,
    });
  });

  it('sends the history, and says max_tokens when the model ran out of them', async () => {
    const { endpoint, client } = await start();
    const first = client.send('main', 'Hello');
    (await endpoint.next(1)).say('Hi');
    await first.result;
    const second = client.send('main', 'Again');
    const request = await endpoint.next(2);
    expect(request.body.messages.map(({ role }: { role: string }) => role)).to.deep.equal([
      'user',
      'assistant',
      'user',
    ]);
    request.chunk({ content: 'Cu' }).finish('length');
    expect((await second.result).stopReason).to.equal('max_tokens');
  });

  it('shows a refusal as text', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Hello');
    (await endpoint.next(1)).chunk({ refusal: 'No.' }).finish();
    expect(textOf((await run.result).message)).to.equal('No.');
  });

  it('takes a client of the package, and instructions made for the turn', async () => {
    const endpoint = await ChatEndpoint.start();
    const sdk = new OpenAI({ baseURL: endpoint.url, apiKey: 'own', maxRetries: 0 });
    const app = openaiApp({
      client: sdk,
      model: 'tiny',
      instructions: async ({ user }) => `For ${user?.id}`,
    });
    const { client } = await serve(app);
    const run = client.send('main', 'Hello');
    const request = await endpoint.next(1);
    expect(request.headers.authorization).to.equal('Bearer own');
    expect(request.body.messages[0]).to.deep.equal({ role: 'system', content: 'For token' });
    request.say('Hi');
    expect((await run.result).stopReason).to.equal('end');
  });

  it("keeps the environment's key and names from other servers than OpenAI's", async () => {
    const former = { ...process.env };
    Object.assign(process.env, {
      OPENAI_API_KEY: 'secret',
      OPENAI_ORG_ID: 'org',
      OPENAI_PROJECT_ID: 'project',
    });
    try {
      const { endpoint, client } = await start();
      const run = client.send('main', 'Hello');
      const request = await endpoint.next(1);
      expect(request.headers.authorization).to.equal('Bearer none');
      expect(request.headers).to.not.have.any.keys('openai-organization', 'openai-project');
      request.say('Hi');
      await run.result;
    } finally {
      process.env = former;
    }
  });

  it('tells the model what the caller asks for in this answer, behind its own instructions, and not again', async () => {
    const { endpoint, send } = await start({ instructions: 'Be kind.' });
    const run = send('Hello', { parameters: { instructions: 'Be brief.' } });
    const first = await endpoint.next(1);
    expect(first.body.messages.map(({ content }: any) => content)).to.deep.equal([
      'Be kind.',
      'Be brief.',
      'Hello',
    ]);
    first.say('Hi');
    await run.result;
    const next = send('More', {});
    const second = await endpoint.next(2);
    expect(JSON.stringify(second.body.messages)).to.contain('Be kind.').and.to.not.contain('Be brief.');
    second.say('Yes');
    await next.result;
  });

  it('takes the parameters of the caller before its own, and nothing else from it', async () => {
    const { endpoint, send } = await start({
      parameters: { temperature: 1, top_p: 0.9, max_completion_tokens: 100, service_tier: 'flex' },
    });
    const response_format = { type: 'json_object' };
    const run = send('Hello', {
      parameters: {
        temperature: 0,
        max_tokens: 7,
        stop: ['END'],
        response_format,
        seed: null,
        model: 'huge',
        n: 5,
        stream: false,
      },
    });
    const request = await endpoint.next(1);
    const { messages: _messages, ...rest } = request.body;
    expect(rest).to.deep.equal({
      model: 'tiny',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      top_p: 0.9,
      max_tokens: 7,
      stop: ['END'],
      response_format,
      service_tier: 'flex',
    });
    request.say('{}');
    await run.result;
  });
});

for (const resumable of [false, true])
  describe(`the upstream of an openai app (${resumable ? 'resumable' : 'plain'})`, () => {
    behavesLikeAnAdapter(({ url }) => openaiApp({ baseURL: url, model: 'tiny', resumable }));

    for (const [how, breaks] of [
      ['says an error', (request) => request.raw('data: {"error":{"message":"hunter2","code":"x"}}\n\n')],
      ['ends before the answer does', (request) => request.raw('data: [DONE]\n\n').end()],
    ] as readonly [string, (request: any) => void][]) {
      it(`that ${how} mid-stream ends the run as an error, with what it had said`, async () => {
        const { endpoint, client } = await start({ resumable });
        const run = client.send('main', 'Hello');
        const request = await endpoint.next(1);
        request.chunk({ content: 'Half' });
        await run.text[Symbol.asyncIterator]().next();
        breaks(request);
        const { stopReason, error, message } = await run.result;
        expect([stopReason, error?.code, textOf(message)]).to.deep.equal([
          'error',
          'UPSTREAM_FAILED',
          'Half',
        ]);
        expect(JSON.stringify(error)).to.not.contain('hunter2');
      });
    }

    it('is the next of its models where one breaks off: pages have one clean answer, with the usage of both', async () => {
      const { endpoint, client } = await start({ resumable, models: ['small', 'last'] });
      const run = client.send('main', 'Hello');
      const first = await endpoint.next(1);
      first.chunk(
        { content: 'Half of a wro' },
        { usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
      );
      await run.text[Symbol.asyncIterator]().next();
      first.cut();
      const second = await endpoint.next(2);
      expect(second.body.model).to.equal('small');
      expect(second.body.messages).to.deep.equal(first.body.messages);
      second.say('A whole one.');
      const { stopReason, message, usage } = await run.result;
      expect([stopReason, textOf(message)]).to.deep.equal(['end', 'A whole one.']);
      expect(usage).to.include({ inputTokens: 6, outputTokens: 3 });
      const { messages } = await client.session('main').history();
      expect(textOf(messages.at(-1)!)).to.equal('A whole one.');
    });

    it('fails once the last of its models has', async () => {
      const { endpoint, client } = await start({ resumable, models: ['small'] });
      const run = client.send('main', 'Hello');
      for (const count of [1, 2]) (await endpoint.next(count)).fail(400, 'no');
      const { stopReason, error } = await run.result;
      expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
    });
  });
