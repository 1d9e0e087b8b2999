import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { MemorySaver } from '@langchain/langgraph';
import { expect } from 'chai';
import type { Run } from '../../client/index.js';
import { agentsApp } from '../../server/app-adapters/agents/index.js';
import { aiSdkApp } from '../../server/app-adapters/ai-sdk/index.js';
import { anthropicApp } from '../../server/app-adapters/anthropic/index.js';
import { langGraphApp } from '../../server/app-adapters/langgraph/index.js';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import type { Application, Limits } from '../../server/index.js';
import type { StopReason } from '../../shared/messages.js';
import { ChatEndpoint, type ChatRequest } from '../support/chat-endpoint.js';
import { connectClient } from '../support/client.js';
import { newDatabase, startDurable } from '../support/durable.js';
import type { TestGateway } from '../support/gateway.js';
import { agent, openai, runner } from './agents/agents.js';
import { agentGraph } from './langgraph/graphs.js';

type MakeApp = (endpoint: ChatEndpoint) => Application;

const ADAPTERS: Record<string, MakeApp> = {
  openaiApp: (endpoint) => openaiApp({ client: openai(endpoint), model: 'tiny' }),
  anthropicApp: ({ origin }) => anthropicApp({ baseURL: origin, model: 'tiny' }),
  aiSdkApp: (endpoint) => {
    const model = createOpenAICompatible({ name: 'test', baseURL: endpoint.url })('tiny');
    return aiSdkApp({ model, maxRetries: 0 });
  },
  agentsApp: (endpoint) => agentsApp({ agent: agent(endpoint), runner, resumable: false }),
  langGraphApp: (endpoint) => langGraphApp({ graph: agentGraph(endpoint).compile() }),
};

interface Cut {
  readonly by: StopReason;
  readonly why: string;
  readonly limits?: Partial<Limits>;
  /** Cuts the answer off. */
  readonly cut: (at: {
    readonly run: Run;
    readonly asked: ChatRequest;
    readonly server: TestGateway;
  }) => unknown;
}

const CUTS: readonly Cut[] = [
  { by: 'aborted', why: 'the run was stopped', cut: ({ run }) => run.abort() },
  { by: 'error', why: 'the run failed', cut: ({ asked }) => asked.cut() },
  { by: 'timeout', why: 'the run took too long', limits: { runMs: 700 }, cut: () => {} },
  { by: 'lost', why: 'the server was lost', cut: ({ server }) => server.gateway.close() },
  { by: 'max_tokens', why: 'it reached the limit of tokens', cut: ({ asked }) => asked.finish('length') },
];

/** What the model is asked with a message that follows an answer, which said this before it was cut off. */
async function askedAfter(
  makeApp: MakeApp,
  { by, limits = {}, cut }: Omit<Cut, 'why'>,
  said: { readonly content?: string; readonly reasoning_content?: string } = { content: 'Well, ' },
): Promise<unknown[][]> {
  const endpoint = await ChatEndpoint.start();
  const app = makeApp(endpoint);
  const path = newDatabase();
  const server = await startDurable(path, { app, limits });
  const run = connectClient(server.url).send('main', 'Hello');
  const asked = await endpoint.next();
  asked.chunk(said);
  for await (const { type } of run) if (type.endsWith('_delta')) break;
  await cut({ run, asked, server });
  // The client of a server that is gone asks for its run until that is back.
  if (by !== 'lost') await run.result;
  await server.gateway.close();
  const client = connectClient((await startDurable(path, { app })).url);
  const { messages } = await client.session('main').history();
  expect(messages.at(-1)).to.include({ role: 'assistant', stopReason: by });
  const next = client.send('main', 'Go on');
  const { body } = await endpoint.next();
  await next.abort();
  return body.messages.map(({ role, content }: any) => [role, textOf(content)]);
}

/** Providers take text as a string or as a list of parts. */
const textOf = (content: string | readonly { readonly text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('');

for (const [name, makeApp] of Object.entries(ADAPTERS)) {
  describe(`the model behind ${name}`, () => {
    for (const { why, ...end } of CUTS) {
      it(`is told of an answer that ended as ${end.by}, with the message after it`, async () => {
        expect(await askedAfter(makeApp, end)).to.deep.equal([
          ['user', 'Hello'],
          ['assistant', 'Well, '],
          ['user', `[The answer above was cut off: ${why}]\n\nGo on`],
        ]);
      });
    }

    it('is told of a message to which nothing was said before its run was stopped', async () => {
      const thought = { reasoning_content: 'A greeting. ' };
      expect(await askedAfter(makeApp, CUTS[0]!, thought)).to.deep.equal([
        ['user', 'Hello'],
        ['user', '[The message above got no answer: the run was stopped]\n\nGo on'],
      ]);
    });

    it('is told that a newer message took the place of an answer', async () => {
      const endpoint = await ChatEndpoint.start();
      const { url } = await startDurable(newDatabase(), { app: makeApp(endpoint) });
      const client = connectClient(url);
      const first = client.send('main', 'Hello');
      const text = first.text[Symbol.asyncIterator]();
      (await endpoint.next()).text('Well, ');
      await text.next();
      const second = client.send('main', 'Go on', { onBusy: 'interrupt' });
      const { body } = await endpoint.next();
      expect(textOf(body.messages.at(-1).content)).to.equal(
        '[The answer above was cut off: a newer message took its place]\n\nGo on',
      );
      await second.abort();
    });

    it('is told nothing of an answer that is whole', async () => {
      const whole: Omit<Cut, 'why'> = { by: 'end', cut: ({ asked }) => asked.finish() };
      expect(await askedAfter(makeApp, whole)).to.deep.equal([
        ['user', 'Hello'],
        ['assistant', 'Well, '],
        ['user', 'Go on'],
      ]);
    });
  });
}

describe('a graph with a checkpointer', () => {
  it('is told of an answer that it has no record of, or no more than the beginning of', async () => {
    const checkpointer = new MemorySaver();
    const makeApp: MakeApp = (endpoint) =>
      langGraphApp({ graph: agentGraph(endpoint).compile({ checkpointer }) });
    expect(await askedAfter(makeApp, CUTS[0]!)).to.deep.equal([
      ['user', 'Hello'],
      ['user', '[The answer above was cut off: the run was stopped]\n\nGo on'],
    ]);
  });
});
