import type { AIMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { Client } from '../../../client/index.js';
import type { GatewayConfig } from '../../../server/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { ChatEndpoint } from '../../support/chat-endpoint.js';
import { connectClient } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';

export function chatModel(endpoint: ChatEndpoint, parameters: { temperature?: number } = {}): ChatOpenAI {
  return new ChatOpenAI({
    ...parameters,
    model: 'tiny',
    apiKey: 'a-key',
    maxRetries: 0,
    configuration: { baseURL: endpoint.url },
  });
}

export const weather = tool(async ({ city }) => `Sunny in ${city}`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});

export const callsOf = (state: typeof MessagesAnnotation.State) =>
  (state.messages.at(-1) as AIMessage).tool_calls ?? [];

/** The usual loop of a model and its tools. */
export function agentGraph(endpoint: ChatEndpoint, tools: StructuredToolInterface[] = [weather]) {
  const model = chatModel(endpoint).bindTools(tools);
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
    .addNode('tools', new ToolNode(tools))
    .addEdge('__start__', 'agent')
    .addConditionalEdges('agent', (state) => (callsOf(state).length > 0 ? 'tools' : '__end__'))
    .addEdge('tools', 'agent');
}

export interface Served extends TestGateway {
  readonly client: Client;
}

export async function serve(
  app: NonNullable<GatewayConfig['app']>,
  config: GatewayConfig<any, any, any> = {},
): Promise<Served> {
  const started = await startGateway({ app, ...config });
  return { ...started, client: connectClient(started.url) };
}

/** An event in short: its type and what is in it. */
export function brief(event: GatewayEvent): unknown[] {
  switch (event.type) {
    case 'content_delta':
    case 'reasoning_delta':
      return [event.type, event.delta];
    case 'tool_use':
    case 'tool_confirmation_required':
      return [event.type, event.callId, event.name, event.input];
    case 'tool_result':
      return [event.type, event.callId, event.name, event.output, event.isError];
    case 'custom':
      return [event.type, event.name, event.payload];
    case 'data':
      return [event.type, event.name, event.value];
    case 'input_required':
      return [event.type, event.name, event.payload];
    case 'message_end':
      return [event.type, event.stopReason];
    case 'run_error':
      return [event.type, event.code, event.message];
    default:
      return [event.type];
  }
}

const FRAME = new Set(['message_accepted', 'message_start', 'tool_confirmation_result', 'input_result']);

/** All events of a run in short, but for those that every run has; `act` hears each as it comes. */
export async function follow(
  run: AsyncIterable<GatewayEvent>,
  act: (event: GatewayEvent) => unknown = () => {},
): Promise<unknown[][]> {
  const seen: unknown[][] = [];
  for await (const event of run) {
    if (!FRAME.has(event.type)) seen.push(brief(event));
    await act(event);
  }
  return seen;
}
