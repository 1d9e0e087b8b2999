import { tool as sdkTool } from '@openai/agents';
import { expect } from 'chai';
import { z } from 'zod';
import { agentsApp } from '../../../server/app-adapters/agents/index.js';
import { type Turn, tool } from '../../../server/index.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { follow, picked, serve } from '../served.js';
import { agent, runner } from './agents.js';

describe('tools that are not the agent’s own', () => {
  it('offers the model the tools and parameters of the caller, whose client answers', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client, gateway } = await serve(
      agentsApp({ agent: agent(endpoint, { tools: [], modelSettings: { topP: 0.5 } }), runner }),
    );
    const pick = {
      name: 'pick',
      description: 'Lets the person pick',
      parameters: {
        type: 'object',
        properties: { of: { type: 'number' } },
        required: ['of'],
        additionalProperties: false,
      },
      strict: true,
    };
    const run = gateway.session('main', { user: { id: 'token' } }).send('Pick', {
      clientTools: [pick],
      parameters: { temperature: 0.25, max_tokens: 7, top_k: 3 },
    });
    const seen = follow(run, (event) => {
      if (event.type !== 'input_required') return undefined;
      return client.session('main').respond(event.callId, { output: { picked: 2 } });
    });
    const asked = await endpoint.next();
    expect(asked.body)
      .to.include({ temperature: 0.25, max_tokens: 7, top_p: 0.5 })
      .and.not.have.property('top_k');
    expect(asked.body.tools.map((one: any) => one.function)).to.deep.equal([pick]);
    asked.text('Choose. ').call('call_1', 'pick', { of: 3 }).finish('tool_calls');
    const again = await endpoint.next();
    expect(JSON.parse(again.body.messages.at(-1).content)).to.deep.equal({ picked: 2 });
    again.text('Two.').finish();
    const events = await seen;
    const callId = events.find(([type]) => type === 'tool_use')![1];
    expect(events).to.deep.equal(picked(callId, 'Two.'));
  });

  it('offers the app’s own tools, with their confirmation; a denial is for the model', async () => {
    const endpoint = await ChatEndpoint.start();
    const tools = {
      pay: tool({
        description: 'Pays',
        schema: z.object({ sum: z.number() }),
        confirm: true,
        handler: ({ sum }) => `paid ${sum}`,
      }),
    };
    const { client } = await serve(agentsApp({ agent: agent(endpoint, { tools: [] }), runner, tools }));
    const run = client.send('main', 'Pay');
    const seen = follow(run, (event) => {
      if (event.type !== 'tool_confirmation_required') return undefined;
      return (event.input as any).sum === 1
        ? client.session('main').approve(event.callId)
        : client.session('main').deny(event.callId);
    });
    const asked = await endpoint.next();
    expect(asked.body.tools[0].function).to.deep.include({ name: 'pay', description: 'Pays' });
    expect(asked.body.tools[0].function.parameters.properties).to.deep.equal({ sum: { type: 'number' } });
    asked.call('call_1', 'pay', { sum: 1 }).call('call_2', 'pay', { sum: 2 }, 1).finish('tool_calls');
    const again = await endpoint.next();
    expect(again.body.messages.slice(-2).map(({ content }: any) => content)).to.deep.equal([
      'paid 1',
      'Denied',
    ]);
    again.text('Done.').finish();
    const events = await seen;
    expect(events.filter(([type]) => type === 'tool_use')).to.have.length(2);
    expect(events.filter(([type]) => type === 'tool_result')).to.have.length(2);
  });

  it('gives tools the turn, or a context of the host’s', async () => {
    const endpoint = await ChatEndpoint.start();
    const note = sdkTool({
      name: 'note',
      description: 'Notes',
      parameters: z.object({}),
      execute: async (_, context: any) => {
        context.context.turn.data('note', context.context.who ?? 'nobody');
        return 'noted';
      },
    });
    for (const [context, who] of [
      [undefined, 'nobody'],
      [(turn: Turn) => ({ turn, who: turn.user!.id }), 'token'],
    ] as const) {
      const app = agentsApp({
        agent: agent(endpoint, { tools: [note] }),
        runner,
        ...(context && { context }),
        input: (items) => [{ role: 'system', content: 'Be brief' }, ...items],
      });
      const { client } = await serve(app);
      const run = client.send('main', 'Note');
      const asked = await endpoint.next();
      expect(asked.body.messages[0]).to.deep.equal({ role: 'system', content: 'Be brief' });
      asked.call('call_1', 'note', {}).finish('tool_calls');
      (await endpoint.next()).text('Done.').finish();
      const { message } = await run.result;
      expect(message.content.find(({ type }) => type === 'data')).to.deep.include({
        name: 'note',
        value: who,
      });
    }
  });
});
