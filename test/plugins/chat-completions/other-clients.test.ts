import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type AIMessage, HumanMessage, SystemMessage, type ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import type { Turn } from '../../../server/index.js';
import { failure } from '../../support/client.js';
import { recalling, runs, startChat } from './fixtures.js';

const talking = runs(async function* (turn) {
  yield { type: 'reasoning_delta', delta: 'Hm. ' };
  yield 'One ';
  yield 'two';
  turn.usage({ inputTokens: 5, outputTokens: 7 });
});

/** Asks the caller's tool twice, one after the other. */
const weather = runs(async function* (turn: Turn) {
  yield 'Looking. ';
  for (const city of ['Paris', 'Rome'])
    yield `${city}: ${await turn.callTool('weather' as never, { city } as never)}. `;
});

describe('chat completions with the AI SDK', () => {
  const model = (baseURL: string, user = 'alice') =>
    createOpenAICompatible({ name: 'gateway', baseURL, apiKey: user, includeUsage: true })('default');

  it('generate text', async () => {
    const { baseURL } = await startChat({ app: talking });
    const { text, usage, finishReason, reasoningText } = await generateText({
      model: model(baseURL),
      prompt: 'Count',
      maxRetries: 0,
    });
    expect([text, finishReason, reasoningText]).to.deep.equal(['One two', 'stop', 'Hm. ']);
    expect([usage.inputTokens, usage.outputTokens]).to.deep.equal([5, 7]);
  });

  it('stream text', async () => {
    const { baseURL } = await startChat({ app: talking });
    const result = streamText({ model: model(baseURL), prompt: 'Count', maxRetries: 0 });
    const deltas: string[] = [];
    for await (const delta of result.textStream) deltas.push(delta);
    expect(deltas.join('')).to.equal('One two');
    expect(await result.reasoningText).to.equal('Hm. ');
    expect(await result.finishReason).to.equal('stop');
    expect((await result.usage).outputTokens).to.equal(7);
  });

  it('send several parts of text, and images', async () => {
    const seen: unknown[] = [];
    const app = runs(async ({ message }) => {
      seen.push(...message.content);
    });
    const { baseURL } = await startChat({ app });
    const image = 'data:image/png;base64,iVBORw0KGgo=';
    const content = [
      { type: 'text' as const, text: 'a' },
      { type: 'text' as const, text: 'b' },
      { type: 'image' as const, image },
    ];
    await generateText({ model: model(baseURL), messages: [{ role: 'user', content }], maxRetries: 0 });
    expect(seen).to.deep.equal([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    ]);
  });

  for (const streaming of [false, true]) {
    it(`run a loop of tools, ${streaming ? 'streaming' : 'at once'}`, async () => {
      const { baseURL, gateway } = await startChat({ app: weather });
      let started = 0;
      gateway.on('run:started', () => {
        started += 1;
      });
      const options = {
        model: model(baseURL),
        prompt: 'Weather?',
        maxRetries: 0,
        stopWhen: stepCountIs(5),
        tools: {
          weather: tool({
            description: 'Tells the weather',
            inputSchema: jsonSchema<{ city: string }>({
              type: 'object',
              properties: { city: { type: 'string' } },
            }),
            execute: async ({ city }) => ({ sky: `blue over ${city}` }),
          }),
        },
      };
      const result = streaming ? streamText(options) : await generateText(options);
      const steps = await result.steps;
      expect(steps.map(({ text }) => text)).to.deep.equal([
        'Looking. ',
        'Paris: {"sky":"blue over Paris"}. ',
        'Rome: {"sky":"blue over Rome"}. ',
      ]);
      expect(steps.map(({ finishReason }) => finishReason)).to.deep.equal([
        'tool-calls',
        'tool-calls',
        'stop',
      ]);
      expect(started).to.equal(1);
    });
  }

  it('read errors', async () => {
    const { baseURL } = await startChat({ app: talking });
    const error = await failure(generateText({ model: model(baseURL, 'bad'), prompt: 'Hi', maxRetries: 0 }));
    expect(error).to.include({ statusCode: 401, isRetryable: false });
    expect(error.message).to.equal('The credentials are not valid');
  });
});

describe('chat completions with LangChain', () => {
  const model = (baseURL: string, user = 'alice') =>
    new ChatOpenAI({ model: 'default', apiKey: user, maxRetries: 0, configuration: { baseURL } });

  it('invoke', async () => {
    const { baseURL } = await startChat({ app: talking });
    const answer = await model(baseURL).invoke('Count');
    expect(answer.content).to.equal('One two');
    expect(answer.usage_metadata).to.deep.include({ input_tokens: 5, output_tokens: 7, total_tokens: 12 });
    expect(answer.response_metadata.finish_reason).to.equal('stop');
  });

  it('stream with usage', async () => {
    const { baseURL } = await startChat({ app: talking });
    let whole: any;
    for await (const chunk of await model(baseURL).stream('Count'))
      whole = whole ? whole.concat(chunk) : chunk;
    expect(whole.content).to.equal('One two');
    expect(whole.usage_metadata).to.deep.include({ input_tokens: 5, output_tokens: 7, total_tokens: 12 });
  });

  it('keep a session by its header', async () => {
    const { baseURL } = await startChat({ app: recalling });
    const kept = new ChatOpenAI({
      model: 'default',
      apiKey: 'alice',
      maxRetries: 0,
      configuration: { baseURL, defaultHeaders: { 'x-session-id': 'kept' } },
    });
    const start = [new SystemMessage('s'), new HumanMessage('a')];
    const first = await kept.invoke(start);
    const second = await kept.invoke([...start, first, new HumanMessage('b')]);
    expect(second.content).to.equal('system:s|user:a|assistant:system:s|user:a|user:b');
  });

  for (const streaming of [false, true]) {
    it(`bind tools, ${streaming ? 'streaming' : 'at once'}`, async () => {
      const { baseURL } = await startChat({ app: weather });
      const look = langchainTool(({ city }: { city: string }) => `blue over ${city}`, {
        name: 'weather',
        description: 'Tells the weather',
        schema: z.object({ city: z.string() }),
      });
      const bound = model(baseURL).bindTools([look]);
      const messages: (HumanMessage | AIMessage | ToolMessage)[] = [new HumanMessage('Weather?')];
      for (;;) {
        let answer: any;
        if (streaming) {
          for await (const chunk of await bound.stream(messages))
            answer = answer ? answer.concat(chunk) : chunk;
        } else answer = await bound.invoke(messages);
        messages.push(answer);
        if (!answer.tool_calls?.length) break;
        for (const call of answer.tool_calls) messages.push((await look.invoke(call)) as ToolMessage);
      }
      expect(messages.map(({ content }) => content)).to.deep.equal([
        'Weather?',
        'Looking. ',
        'blue over Paris',
        'Paris: blue over Paris. ',
        'blue over Rome',
        'Rome: blue over Rome. ',
      ]);
    });
  }
});
