import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { expect } from 'chai';
import { z } from 'zod';
import type { ClientSession } from '../../../client/index.js';
import { type LangGraphOptions, langGraphApp } from '../../../server/app-adapters/langgraph/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { follow, serve } from '../served.js';
import { agentGraph, weather } from './graphs.js';

/** A graph whose one node interrupts with a value and answers with what it is resumed with. */
function asking(value: unknown) {
  return new StateGraph(MessagesAnnotation)
    .addNode('ask', () => ({ messages: [new AIMessage(`Got ${JSON.stringify(interrupt(value))}`)] }))
    .addEdge('__start__', 'ask')
    .compile({ checkpointer: new MemorySaver() });
}

type Answering = (session: ClientSession, event: GatewayEvent) => unknown;

/** What a graph gets for an interrupt, and what the client saw. */
async function ask(value: unknown, answering: Answering, options: Partial<LangGraphOptions> = {}) {
  const { client } = await serve(langGraphApp({ graph: asking(value), ...options }));
  const session = client.session('main');
  const run = client.send('main', 'Go');
  const seen = await follow(run, (event) => {
    if (event.type === 'tool_confirmation_required' || event.type === 'input_required')
      return answering(session, event);
    return undefined;
  });
  const { message, stopReason } = await run.result;
  return { seen, text: textOf(message), stopReason };
}

const approve: Answering = (session, event) => session.approve((event as any).callId);
const change =
  (input: unknown): Answering =>
  (session, event) =>
    session.approve((event as any).callId, input);
const deny =
  (reason?: string): Answering =>
  (session, event) =>
    session.deny((event as any).callId, reason);
const reply =
  (output: unknown): Answering =>
  (session, event) =>
    session.respond((event as any).callId, { output });

describe('interrupts of a graph', () => {
  it('a tool that interrupts is confirmed as the call that the model made', async () => {
    const endpoint = await ChatEndpoint.start();
    const erase = tool(
      ({ path }) => {
        const value = { type: 'confirmation', name: 'erase', input: { path }, message: `Erase ${path}?` };
        const { approved, input } = interrupt(value) as any;
        return approved ? `erased ${input?.path ?? path}` : 'kept';
      },
      { name: 'erase', description: 'Erases', schema: z.object({ path: z.string() }) },
    );
    const graph = agentGraph(endpoint, [erase]).compile({ checkpointer: new MemorySaver() });
    const { client } = await serve(langGraphApp({ graph }));
    const run = client.send('main', 'Erase a');
    let asked: any;
    const seen = follow(run, (event) => {
      if (event.type !== 'tool_confirmation_required') return undefined;
      asked = event;
      return client.session('main').approve(event.callId, { path: '/tmp/b' });
    });
    (await endpoint.next()).call('call_1', 'erase', { path: '/tmp/a' }).finish('tool_calls');
    (await endpoint.next()).text('Done.').finish();
    expect(await seen).to.deep.equal([
      ['tool_use', 'call_1', 'erase', { path: '/tmp/a' }],
      ['tool_confirmation_required', 'call_1', 'erase', { path: '/tmp/a' }],
      ['tool_result', 'call_1', 'erase', 'erased /tmp/b', false],
      ['content_delta', 'Done.'],
      ['message_end', 'end'],
    ]);
    expect(asked.message).to.equal('Erase /tmp/a?');
  });

  it('a confirmation that is denied says so, with the reason', async () => {
    const { text, seen } = await ask(
      { type: 'confirmation', name: 'pay', input: { sum: 3 } },
      deny('too much'),
    );
    expect(seen[0]!.slice(2)).to.deep.equal(['pay', { sum: 3 }]);
    expect(text).to.equal('Got {"approved":false,"reason":"too much"}');
  });

  describe('of LangChain’s human-in-the-loop middleware', () => {
    const request = (allowedDecisions = ['approve', 'edit', 'reject']) => ({
      actionRequests: [{ name: 'pay', args: { sum: 3 }, description: 'Pay 3?' }],
      reviewConfigs: [{ actionName: 'pay', allowedDecisions }],
    });
    for (const [what, answering, decision, allowed] of [
      ['approve', approve, '{"type":"approve"}', undefined],
      ['reject', deny('no'), '{"type":"reject","message":"no"}', undefined],
      [
        'edit',
        change({ sum: 2 }),
        '{"type":"edit","editedAction":{"name":"pay","args":{"sum":2}}}',
        undefined,
      ],
      [
        'reject what may not be edited',
        change({ sum: 2 }),
        '{"type":"reject","message":"The input may not be changed"}',
        ['approve', 'reject'],
      ],
    ] as const) {
      it(what, async () => {
        const { seen, text } = await ask(request(allowed as any), answering);
        expect(seen[0]!.slice(2)).to.deep.equal(['pay', { sum: 3 }]);
        expect(text).to.equal(`Got {"decisions":[${decision}]}`);
      });
    }
  });

  describe('of LangGraph’s agent inbox', () => {
    const request = { action_request: { action: 'pay', args: { sum: 3 } }, config: { allow_respond: true } };
    for (const [what, answering, response] of [
      ['accept', approve, '{"type":"accept","args":null}'],
      ['edit', change({ sum: 2 }), '{"type":"edit","args":{"action":"pay","args":{"sum":2}}}'],
      ['respond', deny('ask Ann'), '{"type":"response","args":"ask Ann"}'],
      ['ignore', deny(), '{"type":"ignore","args":null}'],
    ] as const) {
      it(what, async () => {
        expect((await ask(request, answering)).text).to.equal(`Got ${response}`);
        expect((await ask([request], answering)).text).to.equal(`Got [${response}]`);
      });
    }
  });

  it('of a form of the host’s own are read as the host says', async () => {
    const { seen, text } = await ask({ please: 'pay' }, approve, {
      readInterrupt: (value) => ({
        name: (value as any).please,
        input: null,
        resume: ({ approved }) => (approved ? 'yes' : 'no'),
      }),
    });
    expect(seen[0]!.slice(2)).to.deep.equal(['pay', null]);
    expect(text).to.equal('Got "yes"');
  });

  for (const answer of [{ day: 'Monday' }, 'Monday', 0, false, '', [], {}]) {
    it(`any other is a question, which ${JSON.stringify(answer)} answers`, async () => {
      const { seen, text } = await ask({ question: 'Which day?' }, reply(answer));
      expect(seen[0]).to.deep.equal(['input_required', 'interrupt', { question: 'Which day?' }]);
      expect(text).to.equal(`Got ${JSON.stringify(answer)}`);
    });
  }

  it('a question that is declined ends the run, and the session goes on', async () => {
    const { client } = await serve(langGraphApp({ graph: asking('Which day?') }));
    const first = client.send('main', 'Go');
    await follow(
      first,
      (event) => event.type === 'input_required' && client.session('main').deny(event.callId),
    );
    expect(await first.result).to.include({ stopReason: 'end' });
    const second = client.send('main', 'Again');
    await follow(
      second,
      (event) =>
        event.type === 'input_required' && client.session('main').respond(event.callId, { output: 'Monday' }),
    );
    expect(textOf((await second.result).message)).to.equal('Got "Monday"');
  });

  it('of several nodes at once are asked together, and each gets its own answer', async () => {
    const node = (name: string) => () => ({ messages: [new AIMessage(`${name}: ${interrupt(name)}. `)] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('one', node('one'))
      .addNode('two', node('two'))
      .addEdge('__start__', 'one')
      .addEdge('__start__', 'two')
      .compile({ checkpointer: new MemorySaver() });
    const { client } = await serve(langGraphApp({ graph }));
    const run = client.send('main', 'Go');
    const open: { callId: string; payload?: unknown }[] = [];
    await follow(run, async (event) => {
      if (event.type !== 'input_required' || open.push(event) < 2) return;
      for (const { callId, payload } of open.reverse())
        await client.session('main').respond(callId, { output: `answer to ${payload}` });
    });
    expect(
      textOf((await run.result).message)
        .split(/(?<=\. )/)
        .sort(),
    ).to.deep.equal(['one: answer to one. ', 'two: answer to two. ']);
  });

  it('one after another in a node, and one in a subgraph, are asked once each', async () => {
    const inner = new StateGraph(MessagesAnnotation)
      .addNode('inside', () => {
        const answers = [interrupt('first'), interrupt('second')];
        return { messages: [new AIMessage(answers.join())] };
      })
      .addEdge('__start__', 'inside')
      .compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('inner', inner)
      .addEdge('__start__', 'inner')
      .compile({ checkpointer: new MemorySaver() });
    const { client } = await serve(langGraphApp({ graph }));
    const run = client.send('main', 'Go');
    const asked: unknown[] = [];
    await follow(run, (event) => {
      if (event.type !== 'input_required') return undefined;
      asked.push(event.payload);
      return client.session('main').respond(event.callId, { output: `${event.payload}!` });
    });
    expect(asked).to.deep.equal(['first', 'second']);
    expect(textOf((await run.result).message)).to.equal('first!,second!');
  });

  for (const approved of [true, false]) {
    it(`a breakpoint that is ${approved ? 'approved goes on' : 'denied ends the run'}`, async () => {
      const endpoint = await ChatEndpoint.start();
      const graph = agentGraph(endpoint, [weather]).compile({
        checkpointer: new MemorySaver(),
        interruptBefore: ['tools'],
      });
      const { client } = await serve(langGraphApp({ graph }));
      const run = client.send('main', 'Weather?');
      const seen = follow(run, (event) => {
        if (event.type !== 'tool_confirmation_required') return undefined;
        return client.session('main').respond(event.callId, { approved });
      });
      (await endpoint.next()).call('call_1', 'weather', { city: 'Rome' }).finish('tool_calls');
      if (approved) (await endpoint.next()).text('Sunny.').finish();
      const [, asked, ...rest] = await seen;
      expect(asked!.slice(2)).to.deep.equal(['breakpoint', { next: ['tools'] }]);
      expect(rest.map(([type]) => type)).to.deep.equal(
        approved ? ['tool_result', 'content_delta', 'message_end'] : ['message_end'],
      );
    });
  }

  it('without a checkpointer are a failure of the app', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({ messages: [new AIMessage(String(interrupt('?')))] }))
      .addEdge('__start__', 'ask')
      .compile();
    const { client } = await serve(langGraphApp({ graph }));
    expect((await client.send('main', 'Go').result).error).to.deep.equal({
      code: 'INTERNAL',
      message: 'The app failed',
    });
  });
});
