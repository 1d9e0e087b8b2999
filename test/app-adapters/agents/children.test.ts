import { Agent } from '@openai/agents';
import { expect } from 'chai';
import { agentsApp } from '../../../server/app-adapters/agents/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { serve } from '../served.js';
import { agent, chatModel, erase, runner } from './agents.js';

const expert = (endpoint: ChatEndpoint, name: string, tools: any[] = []) =>
  new Agent({ name, model: chatModel(endpoint), instructions: name, tools });
const toolOf = (of: Agent<any, any>) => of.asTool({ toolName: of.name, toolDescription: 'Asks' });

describe('agentsApp, whose agents are tools of agents', () => {
  it('has a child run for each, in a tree, and their words are not in the answer', async () => {
    const endpoint = await ChatEndpoint.start();
    const leaf = toolOf(expert(endpoint, 'leaf'));
    const branch = toolOf(expert(endpoint, 'branch', [leaf]));
    const { client } = await serve(agentsApp({ agent: agent(endpoint, { tools: [branch] }), runner }));
    const run = client.send('main', 'Go');
    (await endpoint.next())
      .text('Asking. ')
      .call('call_1', 'branch', { input: 'go on' })
      .finish('tool_calls');
    (await endpoint.next()).call('call_2', 'leaf', { input: 'down' }).finish('tool_calls');
    (await endpoint.next()).text('deep').finish();
    (await endpoint.next()).text('found ').text('deep').finish();
    (await endpoint.next()).text('Done.').finish();
    await run.result;
    const { messages } = await client.session('main').history();
    const answer = messages.at(-1)!;
    expect(textOf(answer)).to.equal('Asking. Done.');
    expect(
      answer.children!.map(({ app, name, asked, message, stopReason }) => [
        app,
        name,
        textOf(asked),
        textOf(message),
        stopReason,
      ]),
    ).to.deep.equal([
      ['branch', 'call_1', 'go on', 'found deep', 'end'],
      ['leaf', 'call_2', 'down', 'deep', 'end'],
    ]);
    const [first, second] = answer.children!;
    expect(first).to.include({ parentRunId: answer.runId, callId: 'call_1' });
    expect(second).to.include({ parentRunId: first!.runId, callId: 'call_2' });
    expect(first!.message.content.map(({ type }) => type)).to.deep.equal(['tool_use', 'tool_result', 'text']);
  });

  it('goes on with the same child once what its agent wants to do is approved', async () => {
    const endpoint = await ChatEndpoint.start();
    const branch = toolOf(expert(endpoint, 'branch', [erase]));
    const { client } = await serve(agentsApp({ agent: agent(endpoint, { tools: [branch] }), runner }));
    const run = client.send('main', 'Go');
    (await endpoint.next()).call('call_1', 'branch', { input: 'go on' }).finish('tool_calls');
    (await endpoint.next()).text('May I? ').call('call_2', 'erase', { path: 'a' }).finish('tool_calls');
    for await (const event of run) {
      if (event.type !== 'tool_confirmation_required') continue;
      await client.session('main').respond(event.callId, { approved: true });
      (await endpoint.next()).text('Erased.').finish();
      (await endpoint.next()).text('Done.').finish();
    }
    const { messages } = await client.session('main').history();
    const { children } = messages.at(-1)!;
    expect(children!.map(({ message }) => textOf(message))).to.deep.equal(['May I? Erased.']);
    expect(textOf(messages.at(-1)!)).to.equal('Done.');
  });

  it('tells runs apart that share the agents', async () => {
    const endpoint = await ChatEndpoint.start();
    const branch = toolOf(expert(endpoint, 'branch'));
    const { client } = await serve(agentsApp({ agent: agent(endpoint, { tools: [branch] }), runner }));
    for (const word of ['one', 'two']) {
      const run = client.send(word, 'Go');
      (await endpoint.next()).call('call_1', 'branch', { input: word }).finish('tool_calls');
      (await endpoint.next()).text(word).finish();
      (await endpoint.next()).text('Done.').finish();
      await run.result;
      const { messages } = await client.session(word).history();
      expect(messages.at(-1)!.children!.map(({ message }) => textOf(message))).to.deep.equal([word]);
    }
  });
});
