import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, type LangGraphRunnableConfig, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { expect } from 'chai';
import { z } from 'zod';
import { langGraphApp } from '../../../server/app-adapters/langgraph/index.js';
import type { Turn } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { gate } from '../../support/gate.js';
import { behavesLikeAnAdapter } from '../basics.js';
import { follow, serve, showsTwoCalls, toldOf } from '../served.js';
import { agentGraph, chatModel, weather } from './graphs.js';

/** What a graph shows whose model calls for the weather and says no more. */
async function shownOf(
  graph: Parameters<typeof langGraphApp>[0]['graph'],
  endpoint: ChatEndpoint,
): Promise<unknown[][]> {
  const { client } = await serve(langGraphApp({ graph }));
  const seen = follow(client.send('main', 'Weather?'));
  (await endpoint.next()).call('call_1', 'weather', { city: 'Rome' }).finish('tool_calls');
  return seen;
}

describe('langGraphApp', () => {
  behavesLikeAnAdapter((endpoint) => langGraphApp({ graph: agentGraph(endpoint).compile() }));

  it('hands the whole history to a graph without a checkpointer, tool calls included and reasoning not', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(langGraphApp({ graph: agentGraph(endpoint).compile() }));
    const first = client.send('main', 'Weather in Rome?');
    (await endpoint.next())
      .chunk({ reasoning_content: 'Look it up. ' })
      .text('A moment. ')
      .call('call_1', 'weather', { city: 'Rome' })
      .finish('tool_calls');
    (await endpoint.next()).text('It is sunny.').finish();
    await first.result;
    const second = client.send('main', 'Thanks');
    const { body } = await endpoint.next();
    expect(body.messages).to.deep.equal([
      { role: 'user', content: 'Weather in Rome?' },
      {
        role: 'assistant',
        content: 'A moment. ',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: 'tool', content: 'Sunny in Rome', name: 'weather', tool_call_id: 'call_1' },
      { role: 'assistant', content: 'It is sunny.' },
      { role: 'user', content: 'Thanks' },
    ]);
    await second.abort();
  });

  it('shows the tool calls of the graph and their results, each once and in order', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(langGraphApp({ graph: agentGraph(endpoint).compile() }));
    await showsTwoCalls(client, endpoint, { says: 'Sunny.', outputOf: (city) => `Sunny in ${city}` });
  });

  it('shows a tool that failed as an error', async () => {
    const endpoint = await ChatEndpoint.start();
    const broken = tool(
      () => {
        throw new RangeError('out of range');
      },
      { name: 'broken', description: 'Fails', schema: z.object({}) },
    );
    const { client } = await serve(langGraphApp({ graph: agentGraph(endpoint, [broken]).compile() }));
    const seen = follow(client.send('main', 'Go'));
    (await endpoint.next()).call('call_1', 'broken', {}).finish('tool_calls');
    (await endpoint.next()).text('It failed.').finish();
    const [, result] = await seen;
    expect(result![0]).to.equal('tool_result');
    expect(result![3]).to.match(/out of range/);
    expect(result![4]).to.equal(true);
  });

  it('ends with max_tokens when the model ran out of them, invoked or streamed', async () => {
    const endpoint = await ChatEndpoint.start();
    const model = chatModel(endpoint);
    const streaming = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }, config) => {
        let whole: any;
        for await (const chunk of await model.stream(messages, config))
          whole = whole ? whole.concat(chunk) : chunk;
        return { messages: [whole] };
      })
      .addEdge('__start__', 'agent')
      .compile();
    for (const graph of [agentGraph(endpoint).compile(), streaming]) {
      const { client } = await serve(langGraphApp({ graph: graph as any }));
      const run = client.send('main', 'Hello');
      (await endpoint.next()).text('Well').finish('length');
      const { message, stopReason } = await run.result;
      expect(textOf(message)).to.equal('Well');
      expect(stopReason).to.equal('max_tokens');
    }
  });

  it('ends with tool_use when the graph leaves a call to others', async () => {
    const endpoint = await ChatEndpoint.start();
    const model = chatModel(endpoint).bindTools([weather]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }, config) => ({
        messages: [await model.invoke(messages, config)],
      }))
      .addEdge('__start__', 'agent')
      .compile();
    expect(await shownOf(graph, endpoint)).to.deep.equal([
      ['tool_use', 'call_1', 'weather', { city: 'Rome' }],
      ['message_end', 'tool_use'],
    ]);
  });

  it('goes on after an abort that left a call without a result', async () => {
    const endpoint = await ChatEndpoint.start();
    const started = gate();
    const slow = tool(
      (_, config) => {
        started.open();
        return new Promise<string>((_, reject) =>
          config.signal!.addEventListener('abort', () => reject(config.signal!.reason)),
        );
      },
      { name: 'slow', description: 'Waits', schema: z.object({}) },
    );
    const { client } = await serve(langGraphApp({ graph: agentGraph(endpoint, [slow]).compile() }));
    const first = client.send('main', 'Go');
    (await endpoint.next()).call('call_1', 'slow', {}).finish('tool_calls');
    await started.passed;
    await first.abort();
    expect((await first.result).stopReason).to.equal('aborted');
    expect(await toldOf(client, endpoint, 'Again')).to.deep.equal([
      ['user', 'Go'],
      ['assistant', ''],
      ['tool', 'The tool did not answer'],
      ['user', '[The answer above was cut off: the run was stopped]\n\nAgain'],
    ]);
  });

  it('reports a graph that is wrong itself as a failure of the app', async () => {
    const endless = new StateGraph(MessagesAnnotation)
      .addNode('again', () => ({}))
      .addEdge('__start__', 'again')
      .addConditionalEdges('again', () => 'again')
      .compile();
    const { client, log } = await serve(
      langGraphApp({ graph: endless, config: () => ({ recursionLimit: 3 }) }),
    );
    const { error } = await client.send('main', 'Go').result;
    expect(error).to.deep.equal({ code: 'INTERNAL', message: 'The app failed' });
    expect(log.lines.map(({ message }) => message).join()).to.contain('the app failed');
  });

  it('shows what no model wrote: plain messages, commands, the writer, and subgraphs, each once', async () => {
    const inner = new StateGraph(MessagesAnnotation)
      .addNode('inside', (_, config: LangGraphRunnableConfig) => {
        config.writer?.({ at: 'inside' });
        return { messages: [new AIMessage('From inside. ')] };
      })
      .addEdge('__start__', 'inside')
      .compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('plain', () => ({ messages: [{ role: 'assistant', content: 'Plain.' }] }))
      .addNode('command', () => {
        const call = { id: 'c1', name: 'look', args: { at: 1 }, type: 'tool_call' as const };
        const messages = [
          new AIMessage({ content: 'By command. ', tool_calls: [call] }),
          new ToolMessage({ content: 'seen', tool_call_id: 'c1' }),
        ];
        return new Command({ update: { messages } });
      })
      .addNode('inner', inner)
      .addNode('repeat', ({ messages }) => ({ messages }))
      .addEdge('__start__', 'command')
      .addEdge('command', 'inner')
      .addEdge('inner', 'repeat')
      .addEdge('repeat', 'plain')
      .compile();
    const { client } = await serve(langGraphApp({ graph }));
    const once = [
      ['content_delta', 'By command. '],
      ['tool_use', 'c1', 'look', { at: 1 }],
      ['tool_result', 'c1', 'look', 'seen', false],
      ['custom', 'langgraph', { at: 'inside' }],
      ['content_delta', 'From inside. '],
      ['content_delta', 'Plain.'],
      ['message_end', 'end'],
    ];
    expect(await follow(client.send('main', 'Go'))).to.deep.equal(once);
    // Nor is what was said in earlier turns said again.
    expect(await follow(client.send('main', 'Again'))).to.deep.equal(once);
  });

  it('shows a call before its result where a node keeps the message of its model to itself', async () => {
    const endpoint = await ChatEndpoint.start();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }, config) => {
        await chatModel(endpoint).bindTools([weather]).invoke(messages, config);
        return { messages: [new ToolMessage({ content: 'Sunny', tool_call_id: 'call_1', name: 'weather' })] };
      })
      .addEdge('__start__', 'agent')
      .compile();
    expect(await shownOf(graph, endpoint)).to.deep.equal([
      ['tool_use', 'call_1', 'weather', { city: 'Rome' }],
      ['tool_result', 'call_1', 'weather', 'Sunny', false],
      ['message_end', 'end'],
    ]);
  });

  it('shows only the nodes that show lets through', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('router', () => ({ messages: [new AIMessage('route: a')] }))
      .addNode('answer', () => ({ messages: [new AIMessage('Answered.')] }))
      .addEdge('__start__', 'router')
      .addEdge('router', 'answer')
      .compile();
    const app = langGraphApp({ graph, show: ({ langgraph_node: node }) => node !== 'router' });
    const { client } = await serve(app);
    expect(textOf((await client.send('main', 'Go').result).message)).to.equal('Answered.');
  });

  it('keeps the calls of models that write at the same time apart', async () => {
    const endpoint = await ChatEndpoint.start();
    const model = chatModel(endpoint).bindTools([weather]);
    const say = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => ({
      messages: [await model.invoke(messages, config)],
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('one', say)
      .addNode('two', say)
      .addEdge('__start__', 'one')
      .addEdge('__start__', 'two')
      .compile();
    const { client } = await serve(langGraphApp({ graph }));
    const run = client.send('main', 'Go');
    const one = await endpoint.next();
    const two = await endpoint.next();
    const named = (id: string, args: string) => ({
      tool_calls: [{ index: 0, id, type: 'function', function: { name: 'weather', arguments: args } }],
    });
    const seen = gate();
    const events = follow(run, ({ type }) => type === 'tool_use' && seen.open());
    two.chunk(named('call_2', '{"ci'));
    one.chunk(named('call_1', '{"city":"Rome"}')).finish('tool_calls');
    await seen.passed;
    two.chunk({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Oslo"}' } }] }).finish('tool_calls');
    expect((await events).filter(([type]) => type === 'tool_use')).to.deep.equal([
      ['tool_use', 'call_1', 'weather', { city: 'Rome' }],
      ['tool_use', 'call_2', 'weather', { city: 'Oslo' }],
    ]);
  });

  it('gives nodes the turn: its parameters, its user and what it can do', async () => {
    const endpoint = await ChatEndpoint.start();
    const model = chatModel(endpoint);
    const turns: Turn[] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }, config) => {
        const turn = config.configurable!.turn as Turn;
        turns.push(turn);
        turn.data('sources', ['a.md']);
        return { messages: [await model.invoke(messages, config)] };
      })
      .addEdge('__start__', 'agent')
      .compile();
    const { client } = await serve(langGraphApp({ graph }));
    const run = client.send('main', 'Hello', { metadata: { page: 3 } });
    (await endpoint.next()).text('Hi').finish();
    const { message } = await run.result;
    expect(message.content.map(({ type }) => type)).to.deep.equal(['data', 'text']);
    expect(turns[0]).to.deep.include({ metadata: { page: 3 }, parameters: {} });
    expect(turns[0]!.user).to.have.property('id');
  });

  it('takes an input of the graph’s own making, and more of its config', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', ({ messages }, config) => ({
        messages: [new AIMessage(`${messages.length} ${messages[0]!.content} ${config.configurable!.tone}`)],
      }))
      .addEdge('__start__', 'agent')
      .compile();
    const app = langGraphApp({
      graph,
      description: 'Says it back',
      input: (messages) => ({ messages: [{ role: 'system', content: 'Be brief' }, ...messages] }),
      config: () => ({ configurable: { tone: 'kind' } }),
    });
    expect(app.description).to.equal('Says it back');
    const { client } = await serve(app);
    expect(textOf((await client.send('main', 'Go').result).message)).to.equal('2 Be brief kind');
  });
});
