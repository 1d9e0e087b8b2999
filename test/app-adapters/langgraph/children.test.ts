import { AIMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { expect } from 'chai';
import { z } from 'zod';
import { langGraphApp } from '../../../server/app-adapters/langgraph/index.js';
import { type Message, textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { serve } from '../served.js';
import { callsOf } from './graphs.js';

/** A graph that makes calls, and says `done` once it has their results. */
const calling = (tools: StructuredToolInterface[], ...inputs: (readonly [name: string, q: string])[]) =>
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
const agentTool = (name: string, graph: { invoke(input: any, config: any): Promise<any> }) =>
  tool(
    async ({ q }, config) => {
      const { messages } = await graph.invoke({ messages: [{ role: 'user', content: q }] }, config);
      return String(messages.at(-1).content);
    },
    { name, description: 'Asks', schema: z.object({ q: z.string() }) },
  );

/** A graph whose model says this, letter by letter. */
const saying = (text: string) => {
  const model = new FakeListChatModel({ responses: [text] });
  return new StateGraph(MessagesAnnotation)
    .addNode('think', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
    .addEdge('__start__', 'think')
    .compile();
};

/** A graph that speaks, and then asks. */
const asking = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('begin', () => ({ messages: [new AIMessage('Which? ')] }))
    .addNode('ask', () => ({ messages: [new AIMessage(`${interrupt('colour')}!`)] }))
    .addEdge('__start__', 'begin')
    .addEdge('begin', 'ask')
    .compile();

const childrenOf = ({ children = [] }: Message) =>
  children.map(({ app, callId, asked, message, stopReason }) => [
    app,
    callId,
    textOf(asked),
    textOf(message),
    stopReason,
  ]);

describe('langGraphApp, whose tools run graphs', () => {
  it('has a child run for the graph of a call, and its words are not in the answer', async () => {
    const graph = calling([agentTool('research', saying('found it'))], ['research', 'where?']).compile();
    const { client } = await serve(langGraphApp({ graph }));
    const { message } = await client.send('main', 'Go').result;
    const { messages } = await client.session('main').history();
    expect(textOf(message)).to.equal('Look. done');
    expect(childrenOf(messages.at(-1)!)).to.deep.equal([
      ['research', 'research-0', 'where?', 'found it', 'end'],
    ]);
  });

  it('keeps the graphs of parallel calls apart', async () => {
    const tools = [agentTool('red', saying('crimson')), agentTool('blue', saying('navy'))];
    const { client } = await serve(
      langGraphApp({ graph: calling(tools, ['red', 'a'], ['blue', 'b']).compile() }),
    );
    await client.send('main', 'Go').result;
    const { messages } = await client.session('main').history();
    expect(textOf(messages.at(-1)!)).to.equal('Look. done');
    expect(
      childrenOf(messages.at(-1)!)
        .map(([, , , text]) => text)
        .sort(),
    ).to.deep.equal(['crimson', 'navy']);
  });

  it('has a child of a child for a graph within', async () => {
    const inner = calling([agentTool('leaf', saying('deep'))], ['leaf', 'down']).compile();
    const graph = calling([agentTool('branch', inner)], ['branch', 'go on']).compile();
    const { client } = await serve(langGraphApp({ graph }));
    await client.send('main', 'Go').result;
    const { messages } = await client.session('main').history();
    const { children = [], runId } = messages.at(-1)!;
    expect(childrenOf(messages.at(-1)!)).to.deep.equal([
      ['branch', 'branch-0', 'go on', 'Look. done', 'end'],
      ['leaf', 'leaf-0', 'down', 'deep', 'end'],
    ]);
    expect(children.map(({ parentRunId }) => parentRunId)).to.deep.equal([runId, children[0]!.runId]);
    expect(children[0]!.message.content.map(({ type }) => type)).to.deep.equal([
      'text',
      'tool_use',
      'tool_result',
      'text',
    ]);
  });

  it('joins the same child where a restart interrupted it, when the app is resumable', async () => {
    const graph = calling([agentTool('asker', asking())], ['asker', 'x']).compile({
      checkpointer: new MemorySaver(),
    });
    const app = langGraphApp({ graph, resumable: true });
    const path = newDatabase();
    const before = await startDurable(path, { app });
    const events = connectClient(before.url).events('main', { from: 'earliest' });
    connectClient(before.url)
      .send('main', 'Go')
      .result.catch(() => {});
    let callId = '';
    for await (const event of events) {
      if (event.type !== 'input_required') continue;
      callId = event.callId;
      break;
    }
    const copy = crashed(path);
    await before.gateway.close();
    const client = connectClient((await startDurable(copy, { app })).url);
    await client.session('main').respond(callId, { output: 'red' });
    const spawned: string[] = [];
    for await (const event of client.events('main', { from: 'earliest' })) {
      if (event.type === 'run_spawned') spawned.push(event.runId!);
      if (event.type === 'message_end' && event.parentRunId === undefined) break;
    }
    const { messages } = await client.session('main').history();
    expect(textOf(messages.at(-1)!)).to.equal('Look. done');
    expect(childrenOf(messages.at(-1)!)).to.deep.equal([['asker', 'asker-0', 'x', 'Which? red!', 'end']]);
    expect(spawned).to.have.length(1);
  });

  it('goes on with the same child once a person has answered an interrupt within', async () => {
    const graph = calling([agentTool('asker', asking())], ['asker', 'x']).compile({
      checkpointer: new MemorySaver(),
    });
    const { client } = await serve(langGraphApp({ graph }));
    const run = client.send('main', 'Go');
    for await (const event of run)
      if (event.type === 'input_required')
        await client.session('main').respond(event.callId, { output: 'red' });
    const { messages } = await client.session('main').history();
    expect(textOf(messages.at(-1)!)).to.equal('Look. done');
    expect(childrenOf(messages.at(-1)!)).to.deep.equal([['asker', 'asker-0', 'x', 'Which? red!', 'end']]);
  });

  it('leaves all in the answer if the host wants no child runs', async () => {
    const graph = calling([agentTool('research', saying('found it '))], ['research', 'where?']).compile();
    const { client } = await serve(langGraphApp({ graph, children: false }));
    await client.send('main', 'Go').result;
    const { messages } = await client.session('main').history();
    expect(textOf(messages.at(-1)!)).to.equal('Look. found it done');
    expect(messages.at(-1)!.children).to.equal(undefined);
  });
});
