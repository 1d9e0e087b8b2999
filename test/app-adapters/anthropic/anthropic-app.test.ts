import { Anthropic } from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { anthropicApp } from '../../../server/app-adapters/anthropic/index.js';
import { tool } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import type { MessagesRequest } from '../../support/messages-request.js';
import { behavesLikeAnAdapter } from '../basics.js';
import { follow, serve } from '../served.js';

async function start(options: object = {}) {
  const endpoint = await ChatEndpoint.start();
  const app = anthropicApp({ baseURL: endpoint.origin, model: 'tiny', ...options });
  const next = async (count?: number) => (await endpoint.next(count)) as MessagesRequest;
  return { ...(await serve(app)), endpoint, next };
}

/** The key of a request, which older versions of the package send in a header of its own. */
const keyOf = ({ headers }: Pick<MessagesRequest, 'headers'>): unknown =>
  headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');

const look = tool({ description: 'Looks', handler: () => ({ seen: true }) });

describe('anthropicApp', () => {
  it('asks with the instructions and its parameters, and counts what was cached and what was thought', async () => {
    const { next, client } = await start({ apiKey: 'a-key', instructions: 'Be kind.' });
    const run = client.send('main', 'Hello');
    const request = await next();
    expect(keyOf(request)).to.equal('a-key');
    expect(request.body).to.deep.equal({
      model: 'tiny',
      stream: true,
      max_tokens: 8_192,
      system: 'Be kind.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
    request.event('message_start', {
      message: {
        ...{ id: 'm', model: 'tiny' },
        usage: {
          ...{ input_tokens: 3, cache_read_input_tokens: 10, cache_creation_input_tokens: 20 },
          output_tokens: 1,
        },
      },
    });
    request.text('Hi').finish('stop', {
      input_tokens: null,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
    });
    expect((await run.result).usage).to.deep.equal({
      inputTokens: 33,
      outputTokens: 9,
      totalTokens: 42,
      cachedInputTokens: 10,
      reasoningTokens: 4,
    });
  });

  it('gives the model back what it has thought, signed or hidden, with the results of its calls', async () => {
    const { next, client } = await start({ tools: { look } });
    const run = client.send('main', 'Look');
    const seen = follow(run);
    const first = await next();
    expect(first.body.tools).to.deep.equal([
      { name: 'look', description: 'Looks', input_schema: { type: 'object' } },
    ]);
    first
      .block({ type: 'thinking', thinking: '', signature: '' })
      .delta({ type: 'thinking_delta', thinking: 'Hm.' })
      .delta({ type: 'signature_delta', signature: 'c2ln' })
      .block({ type: 'redacted_thinking', data: 'aGlkZGVu' })
      .block({ type: 'text', text: '', citations: null })
      .text('I look.')
      .call('toolu_1', 'look', {})
      .finish('tool_calls');
    const second = await next();
    const [, answer, told] = second.body.messages;
    expect(answer).to.deep.equal({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'aGlkZGVu' },
        { type: 'text', text: 'I look.', citations: null },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      ],
    });
    expect(told).to.deep.equal({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '{"seen":true}' }],
    });
    second.say('Seen.');
    expect(
      (await seen).map(([type, text]) => [type, text].slice(0, type === 'tool_use' ? 1 : 2)),
    ).to.deep.equal([
      ['reasoning_delta', 'Hm.'],
      ['content_delta', 'I look.'],
      ['tool_use'],
      ['tool_result', (await run.result).message.content.find(isCall)!.callId],
      ['content_delta', 'Seen.'],
      ['message_end', 'end'],
    ]);
    const later = client.send('main', 'Sure?');
    const third = await next();
    expect(JSON.stringify(third.body.messages)).to.not.match(/thinking|Hm\./);
    expect(third.body.messages.map(({ role }: any) => role)).to.deep.equal([
      ...['user', 'assistant', 'user', 'assistant', 'user'],
    ]);
    third.say('Yes.');
    await later.result;
  });

  it('shows what the provider calls itself, and asks on where the model pauses', async () => {
    const { next, client } = await start({
      parameters: { tools: [{ type: 'web_search_20260318', name: 'web_search' }] },
    });
    const run = client.send('main', 'News?');
    const seen = follow(run);
    const first = await next();
    expect(first.body.tools).to.deep.equal([{ type: 'web_search_20260318', name: 'web_search' }]);
    const found = [{ type: 'web_search_result', url: 'https://news.example' }];
    first
      .block({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} })
      .delta({ type: 'input_json_delta', partial_json: '{"query":' })
      .delta({ type: 'input_json_delta', partial_json: '"news"}' })
      .block({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: found })
      .finish('pause_turn');
    const second = await next();
    expect(second.body.messages.at(-1)).to.deep.equal({
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'news' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: found },
      ],
    });
    second.say('None.');
    expect(await seen).to.deep.equal([
      ['tool_use', 'srvtoolu_1', 'web_search', { query: 'news' }],
      ['tool_result', 'srvtoolu_1', 'web_search', found, false],
      ['content_delta', 'None.'],
      ['message_end', 'end'],
    ]);
  });

  it("takes the caller's parameters in the words of chat completions, and nothing else from it", async () => {
    const { next, send } = await start({ tools: { look }, parameters: { top_k: 5, max_tokens: 100 } });
    const run = send('Hello', {
      parameters: {
        ...{ temperature: 1.5, top_p: 0.5, max_completion_tokens: 7, stop: 'END', seed: 3, model: 'huge' },
        ...{ tool_choice: 'required', parallel_tool_calls: false, system: 'Obey', thinking: { type: 'x' } },
      },
    });
    const first = await next();
    const { messages: _m, tools: _t, ...rest } = first.body;
    const settings = { temperature: 1, top_p: 0.5, max_tokens: 7, stop_sequences: ['END'], top_k: 5 };
    expect(rest).to.deep.equal({
      ...{ model: 'tiny', stream: true, ...settings },
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
    first.call('a', 'look', {}).finish('tool_calls');
    const second = await next();
    expect(second.body, 'a forced call is not forced again').to.not.have.property('tool_choice');
    second.say('{}');
    await run.result;
  });

  it('asks a model that thinks for no temperature and no forced call', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1_024 };
    const { next, send } = await start({ tools: { look }, parameters: { thinking } });
    const run = send('Hello', {
      parameters: { temperature: 0.5, tool_choice: { type: 'function', function: { name: 'look' } } },
    });
    const request = await next();
    expect(request.body).to.deep.include({ thinking }).and.not.have.any.keys('temperature', 'tool_choice');
    request.say('Hi');
    await run.result;
  });

  it("keeps the environment's key, token and headers from other servers than Anthropic's", async () => {
    const former = { ...process.env };
    Object.assign(process.env, {
      ANTHROPIC_API_KEY: 'secret',
      ANTHROPIC_AUTH_TOKEN: 'secret',
      ANTHROPIC_CUSTOM_HEADERS: 'x-own: secret\nX-Other: secret',
    });
    try {
      const { next, client } = await start();
      const run = client.send('main', 'Hello');
      const request = await next();
      expect(keyOf(request)).to.equal('none');
      expect(JSON.stringify(request.headers)).to.not.contain('secret');
      request.say('Hi');
      await run.result;
    } finally {
      process.env = former;
    }
  });

  it('takes a client of the package', async () => {
    const endpoint = await ChatEndpoint.start();
    const client = new Anthropic({ baseURL: endpoint.origin, apiKey: 'own', maxRetries: 0 });
    const served = await serve(anthropicApp({ client, model: 'tiny' }));
    const run = served.client.send('main', 'Hello');
    const request = await endpoint.next();
    expect(keyOf(request)).to.equal('own');
    request.say('Hi');
    expect((await run.result).stopReason).to.equal('end');
  });

  it('says max_tokens where the model ran out of them, and makes no call that may be half', async () => {
    const { next, client } = await start({ tools: { look } });
    const run = client.send('main', 'Look');
    (await next()).text('I').call('a', 'look', {}).finish('length');
    const { stopReason, message } = await run.result;
    expect([stopReason, message.content.length]).to.deep.equal(['max_tokens', 1]);
  });
});

const isCall = (block: { readonly type: string }): block is { type: 'tool_use'; callId: string } & any =>
  block.type === 'tool_use';

for (const resumable of [false, true])
  describe(`the upstream of an anthropic app (${resumable ? 'resumable' : 'plain'})`, () => {
    behavesLikeAnAdapter(({ origin }) => anthropicApp({ baseURL: origin, model: 'tiny', resumable }));

    for (const [how, breaks] of [
      [
        'says an error',
        (it) => it.event('error', { error: { type: 'overloaded_error', message: 'hunter2' } }),
      ],
      ['ends before the answer does', (it) => it.end()],
      [
        'adds to a block that has not begun',
        (it) => it.event('content_block_delta', { index: 7, delta: { type: 'text_delta', text: 'x' } }),
      ],
    ] as readonly [string, (request: MessagesRequest) => void][])
      it(`that ${how} ends the run as an error, with what it had said`, async () => {
        const { next, client } = await start({ resumable });
        const run = client.send('main', 'Hello');
        const request = await next();
        request.text('Half');
        await run.text[Symbol.asyncIterator]().next();
        breaks(request);
        const { stopReason, error, message } = await run.result;
        expect([stopReason, error?.code, textOf(message)]).to.deep.equal([
          ...['error', 'UPSTREAM_FAILED', 'Half'],
        ]);
        expect(JSON.stringify(error)).to.not.contain('hunter2');
      });

    it('is the next of its models where one breaks off: one clean answer, with the usage of both', async () => {
      const { next, client } = await start({ resumable, models: ['small'] });
      const run = client.send('main', 'Hello');
      const first = await next();
      first.text('Half of a wro');
      await run.text[Symbol.asyncIterator]().next();
      first.cut();
      const second = await next();
      expect(second.body.model).to.equal('small');
      second.say('A whole one.');
      const { stopReason, message, usage } = await run.result;
      expect([stopReason, textOf(message)]).to.deep.equal(['end', 'A whole one.']);
      expect(usage).to.include({ inputTokens: 6, outputTokens: 3 });
    });
  });
