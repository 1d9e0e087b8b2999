import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIResponsesModel, Runner } from '@openai/agents';
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from 'ai';
import { createOpenAI as createOpenAI4 } from 'ai-openai4';
import { generateText as generateText7 } from 'ai7';
import { expect } from 'chai';
import OpenAI from 'openai';
import { z } from 'zod';
import { defineApp } from '../../../server/index.js';
import { actor } from '../actor.js';
import { startResponses } from './fixtures.js';

/** Tells what it knows, and asks its caller's tool twice where there is one. */
function recalling() {
  return defineApp({
    async *run(turn: any) {
      const known = [...turn.history, turn.message].map(
        ({ role, content }: any) =>
          `${role}:${content.map((block: any) => block.text ?? block.type).join('+')}`,
      );
      yield { type: 'reasoning_delta', delta: 'Hm. ' } as const;
      yield `${known.join('|')} `;
      if (turn.clientTools.length === 0) return;
      for (const city of ['Paris', 'Rome']) yield `${city}: ${await turn.callTool('weather', { city })} `;
    },
  });
}

describe('responses with the AI SDK', () => {
  const model = (baseURL: string) => createOpenAI({ baseURL, apiKey: 'alice' })('default');
  const weather = tool({
    description: 'Tells the weather',
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: async ({ city }) => `sunny in ${city}`,
  });

  for (const streaming of [false, true])
    it(`run a loop of tools in one run, and a second turn that names what was said: ${streaming ? 'streamed' : 'whole'}`, async () => {
      const gateway = await startResponses({ app: recalling() });
      let started = 0;
      gateway.gateway.on('run:started', () => {
        started += 1;
      });
      const ask = async (messages: ModelMessage[]) => {
        const options = {
          model: model(gateway.baseURL),
          messages,
          maxRetries: 0,
          stopWhen: stepCountIs(5),
          tools: { weather },
        };
        if (!streaming) {
          const result = await generateText(options);
          return {
            steps: result.steps,
            response: result.response,
            reasoningText: result.steps[0]!.reasoningText,
          };
        }
        const result = streamText(options);
        await result.consumeStream();
        const steps = await result.steps;
        return { steps, response: await result.response, reasoningText: steps[0]!.reasoningText };
      };
      const first = await ask([{ role: 'user', content: 'a' }]);
      expect(first.steps.map(({ text }) => text)).to.deep.equal(
        ['user:a ', 'Paris: sunny in Paris ', 'Rome: sunny in Rome '].map((text, at) =>
          at === 0 ? text : text,
        ),
      );
      expect(first.reasoningText).to.equal('Hm. ');
      expect(started).to.equal(1);
      const second = await ask([
        { role: 'user', content: 'a' },
        ...first.response.messages,
        { role: 'user', content: 'b' },
      ]);
      expect(second.steps[0]!.text).to.equal(
        'user:a|assistant:user:a +tool_use|tool:tool_result|assistant:Paris: sunny in Paris +tool_use|tool:tool_result|assistant:Rome: sunny in Rome |user:b ',
      );
      expect(started).to.equal(2);
    });

  it('show the app’s own tools as calls that are made elsewhere', async () => {
    const gateway = await startResponses({ app: actor().app });
    const { text, content } = await generateText({
      model: model(gateway.baseURL),
      prompt: 'look done',
      maxRetries: 0,
    });
    expect(text).to.equal('[look: {"did":"look","n":1}] done ');
    const called = content.find(({ type }) => type === 'tool-call');
    expect(called).to.include({ providerExecuted: true });
    expect(content.filter(({ type }) => type === 'tool-result')).to.have.length(1);
  });

  for (const streaming of [false, true])
    it(`ask for approval: ${streaming ? 'streamed' : 'whole'}`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app });
      const ask = async (messages: ModelMessage[]) => {
        const options = { model: model(gateway.baseURL), messages, maxRetries: 0 };
        if (!streaming) {
          const { content, response, text } = await generateText(options);
          return { content, response, text };
        }
        const result = streamText(options);
        await result.consumeStream();
        return { content: await result.content, response: await result.response, text: await result.text };
      };
      const asking: ModelMessage[] = [{ role: 'user', content: 'pay done' }];
      const first = await ask(asking);
      const request = first.content.find(({ type }) => type === 'tool-approval-request') as any;
      expect(request?.approvalId).to.be.a('string');
      expect(first.content.some(({ type }) => type === 'tool-result')).to.equal(false);
      const { text } = await ask([
        ...asking,
        ...first.response.messages,
        {
          role: 'tool',
          content: [
            {
              type: 'tool-approval-response',
              approvalId: request.approvalId,
              approved: true,
              providerExecuted: true,
            } as any,
          ],
        },
      ]);
      expect(effects).to.deep.equal(['pay']);
      expect(text).to.equal('[pay: {"did":"pay","n":1}] done ');
    });

  it('report an app’s failure', async () => {
    const gateway = await startResponses({ app: actor().app });
    const errors: unknown[] = [];
    const result = streamText({
      model: model(gateway.baseURL),
      prompt: 'a break',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    expect(await result.finishReason).to.equal('error');
    expect(errors).to.have.length(1);
  });

  for (const [major, create, generate] of [
    [3, createOpenAI, generateText],
    [4, createOpenAI4, generateText7],
  ] as const)
    it(`say that the app failed where its provider, major ${major}, reads the whole answer`, async () => {
      const gateway = await startResponses({ app: actor().app });
      const model = create({ baseURL: gateway.baseURL, apiKey: 'alice' })('default') as never;
      const error = await (generate as typeof generateText)({
        model,
        prompt: 'a break',
        maxRetries: 0,
      }).catch((caught: Error) => caught);
      expect((error as Error).message).to.equal('The app failed');
    });
});

describe('responses with the Agents SDK', () => {
  const agentOf = (baseURL: string) => {
    const client = new OpenAI({ baseURL, apiKey: 'alice', maxRetries: 0 });
    const weather = agentTool({
      name: 'weather',
      description: 'Tells the weather',
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => `sunny in ${city}`,
    });
    const model = new OpenAIResponsesModel(client as never, 'default');
    return { client, agent: new Agent({ name: 'a', model, tools: [weather] }) };
  };
  const runner = new Runner({ tracingDisabled: true });

  it('run plain, streamed, after a response, and in a conversation, with functions in one run', async () => {
    const gateway = await startResponses({ app: recalling() });
    const { client, agent } = agentOf(gateway.baseURL);
    let started = 0;
    gateway.gateway.on('run:started', () => {
      started += 1;
    });
    const plain = await runner.run(agent, 'a');
    expect(plain.finalOutput).to.equal('Rome: sunny in Rome ');
    const streamed = await runner.run(agent, 'a', { stream: true });
    await streamed.completed;
    expect(streamed.finalOutput).to.equal('Rome: sunny in Rome ');
    expect(started).to.equal(2);
    const chained = await runner.run(agent, 'b', { previousResponseId: plain.lastResponseId! });
    expect(chained.finalOutput).to.equal('Rome: sunny in Rome ');
    const { id } = await client.conversations.create();
    await runner.run(agent, 'c', { conversationId: id });
    await runner.run(agent, 'd', { conversationId: id });
    const { messages } = await gateway.gateway.session(id, { user: { id: 'alice' } }).history();
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    expect(started).to.equal(5);
  });

  it('run with the whole history of a former run', async () => {
    const gateway = await startResponses({ app: recalling() });
    const { agent } = agentOf(gateway.baseURL);
    const first = await runner.run(agent, 'a');
    const second = await runner.run(agent, [...first.history, { role: 'user', content: 'b' }]);
    expect(second.finalOutput).to.equal('Rome: sunny in Rome ');
    const said = second.rawResponses[0]!.output.find(({ type }) => type === 'message') as any;
    expect(said.content[0].text)
      .to.contain('user:a')
      .and.to.contain('tool:tool_result')
      .and.to.contain('user:b');
  });
});

describe('responses with LangChain', () => {
  const model = (baseURL: string) =>
    new ChatOpenAI({
      model: 'default',
      apiKey: 'alice',
      useResponsesApi: true,
      maxRetries: 0,
      configuration: { baseURL },
    });

  it('are invoked and streamed', async () => {
    const gateway = await startResponses({ app: actor().app });
    expect((await model(gateway.baseURL).invoke([new HumanMessage('hello you')])).text).to.equal(
      'hello you ',
    );
    let text = '';
    for await (const chunk of await model(gateway.baseURL).stream('hello you')) text += chunk.text;
    expect(text).to.equal('hello you ');
  });
});
