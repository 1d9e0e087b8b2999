import { AIMessage } from '@langchain/core/messages';
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { expect } from 'chai';
import { langGraphApp } from '../../../server/app-adapters/langgraph/index.js';
import { textOf } from '../../../shared/messages.js';
import { serve } from '../served.js';
import { agentTool, asking, calling, childrenOf, saying } from './calling-graphs.js';

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

  it('tells what the graph of a call uses apart from what its own models use', async () => {
    const spending = new StateGraph(MessagesAnnotation)
      .addNode('think', () => ({
        messages: [
          new AIMessage({
            content: 'found it',
            usage_metadata: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
            response_metadata: { model_name: 'small' },
          } as never),
        ],
      }))
      .addEdge('__start__', 'think')
      .compile();
    const graph = calling([agentTool('research', spending)], ['research', 'where?']).compile();
    const { client } = await serve(langGraphApp({ graph }));
    await client.send('main', 'Go').result;
    const { messages } = await client.session('main').history();
    const { usage, totalUsage, children } = messages.at(-1)!;
    const spent = { inputTokens: 5, outputTokens: 2, totalTokens: 7 };
    expect([usage, totalUsage, children![0]!.usage]).to.deep.equal([undefined, spent, spent]);
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
