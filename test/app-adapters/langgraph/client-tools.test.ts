import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { expect } from 'chai';
import { z } from 'zod';
import {
  answerToolCalls,
  langGraphApp,
  toolDefinitions,
} from '../../../server/app-adapters/langgraph/index.js';
import { type Turn, tool } from '../../../server/index.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { failure } from '../../support/client.js';
import { follow, picked, serve } from '../served.js';
import { callsOf, chatModel } from './graphs.js';

const PICK = {
  name: 'pick',
  description: 'Lets the person pick',
  parameters: { type: 'object', properties: { of: { type: 'number' } } },
  strict: true,
};

/** A graph whose model has the tools of its caller, with the caller's temperature, and whose tools are the turn's. */
function clientGraph(endpoint: ChatEndpoint) {
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }, config) => {
      const turn = config.configurable!.turn as Turn;
      const model = chatModel(endpoint, turn.parameters);
      return {
        messages: [await model.bindTools(toolDefinitions(turn.clientTools)).invoke(messages, config)],
      };
    })
    .addNode('tools', async (state, config) => ({
      messages: await answerToolCalls(config, callsOf(state)),
    }))
    .addEdge('__start__', 'agent')
    .addConditionalEdges('agent', (state) => (callsOf(state).length > 0 ? 'tools' : '__end__'))
    .addEdge('tools', 'agent')
    .compile();
}

describe('tools that are not the graph’s own', () => {
  it('those of the caller reach the model and are answered by the client, each logged once', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client, gateway } = await serve(langGraphApp({ graph: clientGraph(endpoint) }));
    const session = gateway.session('main', { user: { id: 'token' } });
    const run = session.send('Pick one', { clientTools: [PICK], parameters: { temperature: 0.25 } });
    const seen = follow(run, (event) => {
      if (event.type !== 'input_required') return undefined;
      return client.session('main').respond(event.callId, { output: { picked: 2 } });
    });
    const asked = await endpoint.next();
    expect(asked.body.temperature).to.equal(0.25);
    expect(asked.body.tools).to.deep.equal([{ type: 'function', function: PICK }]);
    asked.text('Choose. ').call('call_1', 'pick', { of: 3 }).finish('tool_calls');
    const again = await endpoint.next();
    expect(again.body.messages.at(-1)).to.deep.include({
      role: 'tool',
      tool_call_id: 'call_1',
      content: '{"picked":2}',
    });
    again.text('Two it is.').finish();
    const events = await seen;
    const callId = events.find(([type]) => type === 'tool_use')![1];
    expect(events).to.deep.equal(picked(callId, 'Two it is.'));
  });

  it('a call comes after all that the graph said before it, however much that was', async () => {
    const calls = [{ id: 'call_1', name: 'look', args: {} }];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('say', (_, config) => {
        for (let at = 0; at < 2_000; at += 1) config.writer?.(at);
        return {};
      })
      .addNode('tools', async (_, config) => ({ messages: await answerToolCalls(config, calls) }))
      .addEdge('__start__', 'say')
      .addEdge('say', 'tools')
      .compile();
    const tools = { look: tool({ handler: () => 'seen' }) };
    const { client } = await serve(langGraphApp({ graph, tools }));
    const types = (await follow(client.send('main', 'Talk'))).map(([type]) => type);
    expect(types.indexOf('tool_use')).to.equal(2_000);
  });

  it('are not called where there is no turn', async () => {
    const error = await failure(answerToolCalls({}, []));
    expect(error).to.include({ code: 'INVALID_REQUEST' });
  });

  it('those of the app are called with its schema and its confirmation; a denial is for the model', async () => {
    const endpoint = await ChatEndpoint.start();
    const tools = {
      erase: tool({ schema: z.object({ path: z.string() }), confirm: true, handler: () => 'erased' }),
    };
    const { client } = await serve(langGraphApp({ graph: clientGraph(endpoint), tools }));
    const run = client.send('main', 'Erase');
    const seen = follow(run, (event) => {
      if (event.type !== 'tool_confirmation_required') return undefined;
      return event.input && (event.input as any).path === 'a'
        ? client.session('main').approve(event.callId)
        : client.session('main').deny(event.callId, 'not that');
    });
    (await endpoint.next())
      .call('call_1', 'erase', { path: 'a' })
      .call('call_2', 'erase', { path: 'b' }, 1)
      .call('call_3', 'erase', { path: 3 }, 2)
      .finish('tool_calls');
    const again = await endpoint.next();
    const told = again.body.messages.slice(-3).map(({ content }: any) => content);
    expect(told.slice(0, 2)).to.deep.equal(['erased', 'Denied: not that']);
    expect(told[2]).to.match(/path/);
    again.text('Done.').finish();
    const types = (await seen).map(([type]) => type);
    expect(types.filter((type) => type === 'tool_use')).to.have.length(3);
    expect(types.filter((type) => type === 'tool_result')).to.have.length(3);
    expect((await run.result).stopReason).to.equal('end');
  });

  it('a call that the graph leaves to its caller is in the answer', async () => {
    const endpoint = await ChatEndpoint.start();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }, config) => ({
        messages: [await chatModel(endpoint).invoke(messages, config)],
      }))
      .addEdge('__start__', 'agent')
      .compile();
    const { gateway } = await serve(langGraphApp({ graph }));
    const run = gateway.session('main', { user: { id: 'token' } }).send('Pick', { clientTools: [PICK] });
    const seen = follow(run);
    (await endpoint.next()).call('call_1', 'pick', { of: 3 }).finish('tool_calls');
    expect(await seen).to.deep.equal([
      ['tool_use', 'call_1', 'pick', { of: 3 }],
      ['message_end', 'tool_use'],
    ]);
  });
});
