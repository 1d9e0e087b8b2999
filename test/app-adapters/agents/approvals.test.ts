import { tool } from '@openai/agents';
import { expect } from 'chai';
import type { Client } from '../../../client/index.js';
import { agentsApp } from '../../../server/app-adapters/agents/index.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { follow, serve } from '../served.js';
import { agent, erasing, runner } from './agents.js';

/** Sends a message, and approves each call with another input than it has. */
const approvedOtherwise = (client: Client): Promise<unknown[][]> =>
  follow(client.send('main', 'Erase'), (event) =>
    event.type === 'tool_confirmation_required'
      ? client.session('main').respond(event.callId, { approved: true, input: { path: 'b' } })
      : undefined,
  );

describe('an agent’s tool that needs approval', () => {
  describe('is asked about', () => {
    const decide = async (answer: object) => {
      const endpoint = await ChatEndpoint.start();
      const { client } = await serve(agentsApp({ agent: agent(endpoint), runner }));
      const run = client.send('main', 'Erase');
      const seen = follow(run, (event) => {
        if (event.type !== 'tool_confirmation_required') return undefined;
        return client.session('main').respond(event.callId, answer);
      });
      (await endpoint.next())
        .call('call_1', 'erase', { path: 'a' })
        .call('call_2', 'weather', { city: 'Rome' }, 1)
        .finish('tool_calls');
      const again = await endpoint.next();
      again.text('Done.').finish();
      const events = await seen;
      const { message } = await run.result;
      return { events, message, told: again.body.messages };
    };

    it('and goes on when it is approved', async () => {
      const { events, told } = await decide({ approved: true });
      expect(events.filter(([, callId]) => callId === 'call_1')).to.deep.equal([
        ['tool_use', 'call_1', 'erase', { path: 'a' }],
        ['tool_confirmation_required', 'call_1', 'erase', { path: 'a' }],
        ['tool_result', 'call_1', 'erase', 'erased a', false],
      ]);
      expect(events.filter(([type]) => type === 'tool_use')).to.have.length(2);
      expect(events.filter(([type]) => type === 'tool_result')).to.have.length(2);
      expect(told.find(({ tool_call_id: id }: any) => id === 'call_1').content).to.equal('erased a');
    });

    it('with the input that the person changed, which the model is told of', async () => {
      const { events, told } = await decide({ approved: true, input: { path: 'b' } });
      expect(events.find(([type, id]) => type === 'tool_result' && id === 'call_1')![3]).to.equal('erased b');
      const [call] = told.find(({ tool_calls: calls }: any) => calls).tool_calls;
      expect(JSON.parse(call.function.arguments)).to.deep.equal({ path: 'b' });
    });

    it('and tells the model when it is denied, with the reason', async () => {
      const { events, told } = await decide({ approved: false, reason: 'not that' });
      expect(told.find(({ tool_call_id: id }: any) => id === 'call_1').content).to.equal('Denied: not that');
      const result = events.find(([type, id]) => type === 'tool_result' && id === 'call_1')!;
      expect(result[3]).to.equal('Denied: not that');
    });
  });

  it('runs with a changed input where it is decided call by call', async () => {
    const endpoint = await ChatEndpoint.start();
    const careful = tool({ ...erasing, needsApproval: async (_context, { path }) => path !== 'scratch' });
    const { client } = await serve(agentsApp({ agent: agent(endpoint, { tools: [careful] }), runner }));
    const seen = approvedOtherwise(client);
    (await endpoint.next()).call('call_1', 'erase', { path: 'a' }).finish('tool_calls');
    const again = await endpoint.next();
    const [call] = again.body.messages.find(({ tool_calls: calls }: any) => calls).tool_calls;
    expect(JSON.parse(call.function.arguments)).to.deep.equal({ path: 'b' });
    again.text('Done.').finish();
    expect((await seen).filter(([type]) => type === 'tool_result')).to.deep.equal([
      ['tool_result', 'call_1', 'erase', 'erased b', false],
    ]);
  });

  it('of an agent that is a tool is not run with what nobody approved, and its model is told', async () => {
    const endpoint = await ChatEndpoint.start();
    const helper = agent(endpoint).asTool({
      toolName: 'helper',
      runConfig: { tracingDisabled: true },
      // Has its model stream.
      onStream: () => {},
    });
    const { client } = await serve(
      agentsApp({ agent: agent(endpoint, { name: 'Boss', tools: [helper] }), runner }),
    );
    const seen = approvedOtherwise(client);
    (await endpoint.next()).call('call_1', 'helper', { input: 'Erase' }).finish('tool_calls');
    (await endpoint.next()).call('call_2', 'erase', { path: 'a' }).finish('tool_calls');
    const again = await endpoint.next();
    const { content } = again.body.messages.find(({ tool_call_id: id }: any) => id === 'call_2');
    expect(content).to.equal(
      'Not called: approved with another input, {"path":"b"}. Call it again with that.',
    );
    again.text('Not done.').finish();
    (await endpoint.next()).text('It did not.').finish();
    expect((await seen).at(-1)).to.deep.equal(['message_end', 'end']);
  });

  it('asks about several calls together', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(agentsApp({ agent: agent(endpoint), runner }));
    const run = client.send('main', 'Erase');
    const open: string[] = [];
    const seen = follow(run, async (event) => {
      if (event.type !== 'tool_confirmation_required' || open.push(event.callId) < 2) return;
      await client.session('main').deny(open[1]!);
      await client.session('main').approve(open[0]!);
    });
    (await endpoint.next())
      .call('call_1', 'erase', { path: 'a' })
      .call('call_2', 'erase', { path: 'b' }, 1)
      .finish('tool_calls');
    (await endpoint.next()).text('Done.').finish();
    const results = (await seen).filter(([type]) => type === 'tool_result');
    expect(results.map(([, id, , output]) => [id, output])).to.have.deep.members([
      ['call_1', 'erased a'],
      ['call_2', 'Denied'],
    ]);
  });
});
