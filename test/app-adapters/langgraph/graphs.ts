import type { AIMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { ChatEndpoint } from '../../support/chat-endpoint.js';

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
