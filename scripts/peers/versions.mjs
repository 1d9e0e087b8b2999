/**
 * The oldest and the newest of each optional peer that adapters are for, with what their tests use of its family. `node`: the version
 * of Node.js that it needs, where that is not ours. `types`: a program of its users. `flags`: of npm, for an installation without programs.
 *
 * Versions are exact, so that the same commit is tested the same way. The oldest is the lowest that package.json takes. To raise the
 * newest, write down what `npm view <name> version` says, run `npm run test:peers -- <name>`, and mend what it finds.
 */
export const PEERS = [
  {
    name: 'ai',
    tests: 'test/app-adapters/ai-sdk/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { aiSdkApp, toModelMessages } from 'agent-session-gateway/apps/ai-sdk';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';

const model = createOpenAICompatible({ name: 'local', baseURL: 'http://127.0.0.1:1' })('tiny');
const tools = { add: tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }) };
createGateway({
  apps: {
    settings: aiSdkApp({ model, tools, temperature: 0.5 }),
    agent: aiSdkApp(new ToolLoopAgent({ model, tools })),
    run: aiSdkApp((turn, messages, given) => streamText({ model, messages, tools: given, abortSignal: turn.signal })),
  },
  defaultApp: 'settings',
});
export const shown = streamText({ model, messages: toModelMessages([]) });
`,
    versions: [
      { install: { ai: '6.0.0', '@ai-sdk/openai-compatible': '2.0.0' } },
      { install: { ai: '7.0.173', '@ai-sdk/openai-compatible': '3.0.92' }, node: 22 },
    ],
  },
  {
    name: 'openai',
    tests: 'test/app-adapters/openai/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { openaiApp } from 'agent-session-gateway/apps/openai';
import { OpenAI } from 'openai';

createGateway({ app: openaiApp({ client: new OpenAI({ apiKey: 'x' }), model: 'tiny', parameters: { temperature: 0 } }) });
`,
    versions: [{ install: { openai: '6.0.0' } }, { install: { openai: '7.57.0' }, node: 22 }],
  },
  {
    name: '@anthropic-ai/sdk',
    tests: 'test/app-adapters/anthropic/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { anthropicApp, toAnthropicMessages } from 'agent-session-gateway/apps/anthropic';
import { Anthropic } from '@anthropic-ai/sdk';

const client = new Anthropic({ apiKey: 'x' });
createGateway({ app: anthropicApp({ client, model: 'tiny', parameters: { max_tokens: 100 } }) });
export const asked = client.messages.create({ model: 'tiny', max_tokens: 100, ...toAnthropicMessages([]) });
`,
    versions: [
      { install: { '@anthropic-ai/sdk': '0.93.0' } },
      { install: { '@anthropic-ai/sdk': '1.14.0' } },
    ],
  },
  {
    name: '@anthropic-ai/claude-agent-sdk',
    tests: 'test/app-adapters/claude-agent/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { claudeAgentApp } from 'agent-session-gateway/apps/claude-agent';
import { type Options, query } from '@anthropic-ai/claude-agent-sdk';

const options: Options = { maxTurns: 1 };
createGateway({ app: claudeAgentApp({ cwd: '/', query, options: { ...options } }) });
`,
    flags: ['--omit=optional'],
    versions: [{ install: { '@anthropic-ai/claude-agent-sdk': '0.3.332' } }],
  },
  {
    name: '@langchain/langgraph',
    tests: 'test/app-adapters/langgraph/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { answerToolCalls, langGraphApp } from 'agent-session-gateway/apps/langgraph';
import type { AIMessage } from '@langchain/core/messages';
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const graph = new StateGraph(MessagesAnnotation)
  .addNode('tools', async ({ messages }, config) => ({
    messages: await answerToolCalls(config, (messages.at(-1) as AIMessage).tool_calls ?? []),
  }))
  .addEdge('__start__', 'tools')
  .compile({ checkpointer: new MemorySaver() });
createGateway({ apps: { plain: langGraphApp({ graph }), own: langGraphApp({ graph, Command }) }, defaultApp: 'plain' });
`,
    versions: [
      {
        install: {
          '@langchain/langgraph': '1.0.0',
          '@langchain/core': '1.1.48',
          '@langchain/openai': '1.4.7',
        },
      },
      {
        install: {
          '@langchain/langgraph': '1.7.3',
          '@langchain/core': '1.4.0',
          '@langchain/openai': '1.6.0',
        },
      },
    ],
  },
  {
    name: '@ag-ui/client',
    tests: 'test/app-adapters/ag-ui/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { agUiApp } from 'agent-session-gateway/apps/ag-ui';
import { HttpAgent } from '@ag-ui/client';

new HttpAgent({ url: 'http://127.0.0.1/' });
createGateway({ app: agUiApp({ url: 'http://127.0.0.1/' }) });
`,
    versions: [{ install: { '@ag-ui/client': '1.0.0' } }],
  },
  {
    name: '@a2a-js/sdk',
    tests: 'test/app-adapters/a2a/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { a2aApp } from 'agent-session-gateway/apps/a2a';
import { ClientFactory } from '@a2a-js/sdk/client';

new ClientFactory();
createGateway({ app: a2aApp({ url: 'http://127.0.0.1/' }) });
`,
    versions: [{ install: { '@a2a-js/sdk': '1.3.0' } }],
  },
  {
    name: '@openai/agents',
    tests: 'test/app-adapters/agents/*.test.ts',
    types: `
import { createGateway } from 'agent-session-gateway';
import { agentsApp } from 'agent-session-gateway/apps/agents';
import { Agent, tool } from '@openai/agents';
import { z } from 'zod';

const add = tool({ name: 'add', description: 'Adds', parameters: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 });
createGateway({ app: agentsApp({ agent: new Agent({ name: 'A', instructions: 'Be brief.', tools: [add] }) }) });
`,
    versions: [
      { install: { '@openai/agents': '0.11.0' } },
      { install: { '@openai/agents': '0.20.0' }, node: 22 },
    ],
  },
  {
    name: 'react',
    tests: 'test/client/react/server.test.ts',
    types: `
import { createElement } from 'react';
import { createClient } from 'agent-session-gateway/client';
import { GatewayProvider, useConnection, useSession } from 'agent-session-gateway/client/react';

function Chat() {
  const { messages, send } = useSession('main');
  const count = useSession('main', { select: (view) => view.messages.length });
  return createElement('p', { onClick: () => send('Hello') }, useConnection(), count, messages.map(({ id }) => id));
}
const client = createClient({ baseUrl: '/agent' });
export const page = createElement(GatewayProvider, { client }, createElement(Chat));
`,
    versions: [
      { install: { react: '18.0.0', 'react-dom': '18.0.0', '@types/react': '18.0.15' } },
      { install: { react: '19.3.1', 'react-dom': '19.3.1', '@types/react': '19.3.0' } },
    ],
  },
  {
    name: '@nestjs/core',
    tests: 'test/nest/*.test.ts',
    types: `
import { createClient } from 'agent-session-gateway/client';
import { defineApp, method } from 'agent-session-gateway';
import { GatewayModule, GatewayService } from 'agent-session-gateway/nest';
import type { INestApplicationContext } from '@nestjs/common';

const app = defineApp({ async *run(turn) { yield turn.text; } });
export const module = GatewayModule.forRoot({ app, methods: { ping: method({ handler: () => ({ pong: true }) }) } });
export const gatewayOf = (host: INestApplicationContext) => host.get(GatewayService);
export const client = createClient({ baseUrl: '/agent' });
`,
    // The newest of all is that of the repository. Before 11.0.3 Nest's Fastify asked for Nest 10.
    versions: [
      ['11.0.0', '11.0.3'],
      ['11.2.8', '11.2.8'],
    ].map(([core, fastify]) => ({
      install: {
        ...{ '@nestjs/core': core, '@nestjs/common': core },
        ...{ '@nestjs/platform-express': core, '@nestjs/platform-fastify': fastify },
      },
    })),
  },
];
