import { AIMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { type Message, textOf } from '../../../shared/messages.js';
import { callsOf } from './graphs.js';

/** A graph that makes calls, and says `done` once it has their results. */
export const calling = (
  tools: StructuredToolInterface[],
  ...inputs: (readonly [name: string, q: string])[]
) =>
  new StateGraph(MessagesAnnotation)
    .addNode('agent', ({ messages }) => {
      if (messages.at(-1)!.getType() === 'tool') return { messages: [new AIMessage('done')] };
      const calls = inputs.map(([name, q], at) => ({ id: `${name}-${at}`, name, args: { q } }));
      return { messages: [new AIMessage({ content: 'Look. ', tool_calls: calls })] };
    })
    .addNode('tools', new ToolNode(tools))
    .addEdge('__start__', 'agent')
    .addConditionalEdges('agent', (state) => (callsOf(state).length > 0 ? 'tools' : '__end__'))
    .addEdge('tools', 'agent');

/** A tool that has a graph answer. */
export const agentTool = (name: string, graph: { invoke(input: any, config: any): Promise<any> }) =>
  tool(
    async ({ q }, config) => {
      const { messages } = await graph.invoke({ messages: [{ role: 'user', content: q }] }, config);
      return String(messages.at(-1).content);
    },
    { name, description: 'Asks', schema: z.object({ q: z.string() }) },
  );

/** A graph whose model says this, letter by letter. */
export const saying = (text: string) => {
  const model = new FakeListChatModel({ responses: [text] });
  return new StateGraph(MessagesAnnotation)
    .addNode('think', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
    .addEdge('__start__', 'think')
    .compile();
};

/** A graph that speaks, and then asks. */
export const asking = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('begin', () => ({ messages: [new AIMessage('Which? ')] }))
    .addNode('ask', () => ({ messages: [new AIMessage(`${interrupt('colour')}!`)] }))
    .addEdge('__start__', 'begin')
    .addEdge('begin', 'ask')
    .compile();

/** The child runs of an answer, in short. */
export const childrenOf = ({ children = [] }: Message) =>
  children.map(({ app, callId, asked, message, stopReason }) => [
    app,
    callId,
    textOf(asked),
    textOf(message),
    stopReason,
  ]);
