import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { expect } from 'chai';
import { z } from 'zod';
import { langGraphApp } from '../../../server/app-adapters/langgraph/index.js';
import { type Message, textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { connectClient, failure } from '../../support/client.js';
import { gate } from '../../support/gate.js';
import { post } from '../../support/gateway.js';
import { byName } from '../../support/users.js';
import { follow, serve, toldOf } from '../served.js';
import { agentGraph } from './graphs.js';
import { restartedAsking } from './restarted.js';

/** Answers with the text of everything it remembers. */
function remembering(checkpointer = new MemorySaver()) {
  return new StateGraph(MessagesAnnotation)
    .addNode('tell', ({ messages }) => ({
      messages: [new AIMessage(messages.map(({ content }) => content).join('|'))],
    }))
    .addEdge('__start__', 'tell')
    .compile({ checkpointer });
}

describe('the thread of a graph with a checkpointer', () => {
  it('is told each message once, and remembers the rest itself', async () => {
    const endpoint = await ChatEndpoint.start();
    const graph = agentGraph(endpoint).compile({ checkpointer: new MemorySaver() });
    const { client } = await serve(langGraphApp({ graph }));
    const first = client.send('main', 'Weather?');
    (await endpoint.next()).call('call_1', 'weather', { city: 'Rome' }).finish('tool_calls');
    (await endpoint.next()).text('Sunny.').finish();
    await first.result;
    expect(await toldOf(client, endpoint, 'Thanks')).to.deep.equal([
      ['user', 'Weather?'],
      ['assistant', ''],
      ['tool', 'Sunny in Rome'],
      ['assistant', 'Sunny.'],
      ['user', 'Thanks'],
    ]);
  });

  it('is another for each user, however alike the names of their sessions', async () => {
    const { client, url } = await serve(langGraphApp({ graph: remembering() }), { auth: byName });
    const say = async (name: string, text: string) => {
      const one = connectClient(url, { token: name });
      return textOf((await one.send('main', text).result).message);
    };
    client.disconnect();
    expect(await say('alice', 'secret')).to.equal('secret');
    expect(await say('bob', 'hello')).to.equal('hello');
    expect(await say('alice', 'more')).to.equal('secret|secret|more');
  });

  it('begins anew with a summary, which it is given in place of what that covers', async () => {
    const { client } = await serve(
      langGraphApp({
        graph: remembering(),
        compact: { when: { messages: 5 }, keep: 2, make: ({ messages }) => `sum of ${messages.length}` },
      }),
    );
    const answers: string[] = [];
    for (const text of ['one', 'two', 'three', 'four'])
      answers.push(textOf((await client.send('main', text).result).message));
    expect(answers[1]).to.equal('one|one|two');
    expect(answers[2]).to.equal(`sum of 2|two|${answers[1]}|three`);
    expect(answers[3]).to.equal(`sum of 3|three|${answers[2]}|four`);
  });

  it('is another once the session was closed', async () => {
    const { client } = await serve(langGraphApp({ graph: remembering() }));
    await client.send('main', 'one').result;
    await client.close('main');
    expect(textOf((await client.send('main', 'two').result).message)).to.equal('two');
  });

  it('is told the whole history when it was lost', async () => {
    let graph = remembering();
    const { client } = await serve(
      langGraphApp({
        graph: {
          stream: (...args) => graph.stream(...args),
          getState: (config) => graph.getState(config),
          checkpointer: true,
        },
      }),
    );
    await client.send('main', 'one').result;
    graph = remembering();
    expect(textOf((await client.send('main', 'two').result).message)).to.equal('one|one|two');
  });

  it('is told what was sent with an earlier message that it never got', async () => {
    const { client, url } = await serve(langGraphApp({ graph: remembering() }), {
      clientMessages: { roles: ['user', 'system'] },
    });
    await client.send('main', 'one').result;
    const messages = [{ role: 'system', content: 'Be brief' }, { content: 'two' }];
    const { body } = await post(`${url}/send`, { sessionId: 'main', messages });
    expect(textOf(body.message)).to.equal('one|one|Be brief|two');
  });

  it('never gets a message whose sender used its id before', async () => {
    const { client } = await serve(langGraphApp({ graph: remembering() }));
    await client.send('main', { id: 'mine', content: 'one' }).result;
    expect((await failure(client.send('main', { id: 'mine', content: 'two' }).result)).code).to.equal(
      'MESSAGE_EXISTS',
    );
    expect(textOf((await client.send('main', 'three').result).message)).to.equal('one|one|three');
  });

  it('is another for each branch of a conversation, and goes on where that is gone back to', async () => {
    const { client } = await serve(langGraphApp({ graph: remembering() }));
    const session = client.session('main');
    const said = async (run: { readonly result: Promise<{ readonly message: Message }> }) =>
      textOf((await run.result).message);
    await session.send({ id: 'q1', content: 'one' }).result;
    expect(await said(session.send({ id: 'q2', content: 'two' }))).to.equal('one|one|two');
    expect(await said(session.edit('q2', { id: 'q3', content: 'three' }))).to.equal('one|one|three');
    expect(await said(session.regenerate())).to.equal('one|one|three');
    // The answer that was given last is remembered, not the one before it.
    expect(await said(session.send('four'))).to.equal('one|one|three|one|one|three|four');
    await session.move({ version: 'q2' });
    expect(await said(session.send('five'))).to.equal('one|one|two|one|one|two|five');
    expect(await said(session.edit('q1', 'uno'))).to.equal('uno');
    expect(await said(session.send('due'))).to.equal('uno|uno|due');
  });

  it('may be the host’s choice', async () => {
    const checkpointer = new MemorySaver();
    const app = langGraphApp({ graph: remembering(checkpointer), threadId: ({ user }) => `of-${user!.id}` });
    const { client } = await serve(app, { auth: byName });
    client.disconnect();
    const { url } = await serve(app, { auth: byName });
    await connectClient(url, { token: 'alice' }).send('main', 'one').result;
    await connectClient(url, { token: 'alice' }).send('other', 'two').result;
    const state = await remembering(checkpointer).getState({ configurable: { thread_id: 'of-alice' } });
    expect(state.values.messages.map(({ content }: any) => content)).to.deep.equal([
      'one',
      'one',
      'two',
      'one|one|two',
    ]);
  });

  it('goes on after an abort that left a call without a result', async () => {
    const endpoint = await ChatEndpoint.start();
    const started = gate();
    const slow = tool(
      () => {
        started.open();
        return new Promise<string>(() => {});
      },
      { name: 'slow', description: 'Waits', schema: z.object({}) },
    );
    const graph = agentGraph(endpoint, [slow]).compile({ checkpointer: new MemorySaver() });
    const { client } = await serve(langGraphApp({ graph }));
    const first = client.send('main', 'Go');
    (await endpoint.next()).text('Well. ').call('call_1', 'slow', {}).finish('tool_calls');
    await started.passed;
    await first.abort();
    await first.result;
    expect(await toldOf(client, endpoint, 'Again')).to.deep.equal([
      ['user', 'Go'],
      ['assistant', 'Well. '],
      ['tool', 'The tool did not answer'],
      ['user', '[The answer above was cut off: the run was stopped]\n\nAgain'],
    ]);
  });

  it('serves a graph whose state holds no messages', async () => {
    const State = Annotation.Root({ text: Annotation<string>, answer: Annotation<AIMessage> });
    const graph = new StateGraph(State)
      .addNode('say', ({ text }) => ({ answer: new AIMessage(`You said ${text}`) }))
      .addEdge('__start__', 'say')
      .compile({ checkpointer: new MemorySaver() });
    const app = langGraphApp({ graph, input: (_, turn) => ({ text: turn.text }) });
    const { client } = await serve(app);
    for (const text of ['one', 'two'])
      expect(textOf((await client.send('main', text).result).message)).to.equal(`You said ${text}`);
  });

  it('goes on where a restart interrupted it, when the app is resumable', async () => {
    const checkpointer = new MemorySaver();
    let begun = 0;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('begin', () => {
        begun += 1;
        return { messages: [new AIMessage('Begun. ')] };
      })
      .addNode('ask', () => ({
        messages: [
          new AIMessage(
            `Paid: ${(interrupt({ type: 'confirmation', name: 'pay', input: 3 }) as any).approved}`,
          ),
        ],
      }))
      .addEdge('__start__', 'begin')
      .addEdge('begin', 'ask')
      .compile({ checkpointer });
    const app = langGraphApp({ graph, resumable: true });
    const { url, callId } = await restartedAsking(app, 'tool_confirmation_required');
    const client = connectClient(url);
    await client.session('main').approve(callId);
    const seen = await follow(
      (async function* () {
        for await (const event of client.events('main', { from: 'earliest' })) {
          yield event;
          if (event.type === 'message_end') return;
        }
      })(),
    );
    expect(seen.filter(([type]) => type === 'content_delta' || type === 'message_end')).to.deep.equal([
      ['content_delta', 'Begun. '],
      ['content_delta', 'Paid: true'],
      ['message_end', 'end'],
    ]);
    expect(begun).to.equal(1);
  });

  it('makes its app resumable where it outlives the process, unless the app says otherwise', () => {
    class KeptSaver extends MemorySaver {}
    const graphOf = (checkpointer?: MemorySaver) =>
      new StateGraph(MessagesAnnotation)
        .addNode('say', () => ({ messages: [] }))
        .addEdge('__start__', 'say')
        .compile(checkpointer && { checkpointer });
    const resumable = (checkpointer?: MemorySaver, given?: boolean) =>
      langGraphApp({
        graph: graphOf(checkpointer),
        ...(given !== undefined && { resumable: given }),
      }).resumable === true;
    expect(resumable(new KeptSaver())).to.equal(true);
    expect(resumable(new KeptSaver(), false)).to.equal(false);
    expect(resumable(new MemorySaver())).to.equal(false);
    expect(resumable()).to.equal(false);
  });
});
