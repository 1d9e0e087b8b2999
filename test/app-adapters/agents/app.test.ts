import { Agent, OpenAIResponsesModel } from '@openai/agents';
import { expect } from 'chai';
import { agentsApp } from '../../../server/app-adapters/agents/index.js';
import type { Turn } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { gate } from '../../support/gate.js';
import { behavesLikeAnAdapter } from '../basics.js';
import { follow, serve, showsTwoCalls } from '../served.js';
import { agent, chatModel, erase, openai, runner, weather } from './agents.js';

describe('agentsApp', () => {
  behavesLikeAnAdapter((endpoint) => agentsApp({ agent: agent(endpoint), runner }));

  it('shows tool calls and their results, and hands them on with the history', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(agentsApp({ agent: agent(endpoint), runner }));
    await showsTwoCalls(client, endpoint, { says: 'Clear.', outputOf: (city) => ({ city, sky: 'clear' }) });
    const second = client.send('main', 'Thanks');
    const { body } = await endpoint.next();
    const short = body.messages.map(({ role, content, tool_calls: calls, tool_call_id: id }: any) => [
      role,
      calls?.map((call: any) => call.id) ?? id ?? content[0].text,
    ]);
    // Newer versions of the SDK write a text and the calls behind it as one message.
    const calling = short.findIndex(([, told]: any) => Array.isArray(told));
    expect(JSON.stringify(body.messages.slice(1, calling + 1))).to.contain('I look. ');
    expect([short[0], ...short.slice(calling)]).to.deep.equal([
      ['user', 'Weather?'],
      ['assistant', ['call_1', 'call_2']],
      ['tool', 'call_1'],
      ['tool', 'call_2'],
      ['assistant', 'Clear.'],
      ['user', 'Thanks'],
    ]);
    expect(JSON.parse(body.messages[calling + 1].content)).to.deep.equal({ city: 'Rome', sky: 'clear' });
    await second.abort();
  });

  it('shows a hand-over, and who spoke last to the choice of the next agent', async () => {
    const endpoint = await ChatEndpoint.start();
    const expert = new Agent({ name: 'Expert', model: chatModel(endpoint), instructions: 'I am the expert' });
    const triage = agent(endpoint, { name: 'Triage', handoffs: [expert] });
    const choose = ({ history }: Turn) => {
      const blocks = history.flatMap(({ content }) => content);
      const last = blocks.findLast((block) => block.type === 'data' && block.name === 'handoff') as any;
      return last?.value.to === 'Expert' ? expert : triage;
    };
    const { client } = await serve(agentsApp({ agent: choose, runner }));
    const seen = follow(client.send('main', 'Hard question'));
    (await endpoint.next()).call('call_1', 'transfer_to_Expert', {}).finish('tool_calls');
    (await endpoint.next()).text('Easy.').finish();
    expect(await seen).to.deep.equal([
      ['data', 'handoff', { from: 'Triage', to: 'Expert' }],
      ['content_delta', 'Easy.'],
      ['message_end', 'end'],
    ]);
    const second = client.send('main', 'Another');
    const { body } = await endpoint.next();
    expect(body.messages[0]).to.deep.equal({ role: 'system', content: 'I am the expert' });
    await second.abort();
  });

  it('goes on after an abort that left a call without a result', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(agentsApp({ agent: agent(endpoint), runner }));
    const first = client.send('main', 'Erase');
    const asked = gate();
    const seen = follow(first, ({ type }) => type === 'tool_confirmation_required' && asked.open());
    (await endpoint.next()).call('call_1', 'erase', { path: 'a' }).finish('tool_calls');
    await asked.passed;
    await first.abort();
    await seen;
    const second = client.send('main', 'Again');
    const { body } = await endpoint.next();
    expect(body.messages.map(({ role }: any) => role)).to.deep.equal(['user', 'assistant', 'tool', 'user']);
    expect(body.messages[2].content).to.equal('The tool did not answer');
    await second.abort();
  });

  it('ends as a failure of the app where the agent is at fault: too many turns', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(agentsApp({ agent: agent(endpoint), runner, maxTurns: 1 }));
    const run = client.send('main', 'Weather?');
    (await endpoint.next()).call('call_1', 'weather', { city: 'Rome' }).finish('tool_calls');
    expect((await run.result).error).to.deep.equal({ code: 'INTERNAL', message: 'The app failed' });
  });

  it('ends with GUARD_DENIED where a guardrail refuses', async () => {
    const endpoint = await ChatEndpoint.start();
    const guarded = agent(endpoint, {
      inputGuardrails: [
        {
          name: 'none of that',
          runInParallel: false,
          execute: async () => ({ tripwireTriggered: true, outputInfo: 'secret' }),
        },
      ],
    });
    const { client } = await serve(agentsApp({ agent: guarded, runner }));
    const { error } = await client.send('main', 'Hello').result;
    expect(error).to.deep.equal({ code: 'GUARD_DENIED', message: 'A guardrail of the agent refused this' });
  });

  it('ends with max_tokens when the model ran out of them', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(agentsApp({ agent: agent(endpoint), runner }));
    const run = client.send('main', 'Hello');
    (await endpoint.next()).text('Well').finish('length');
    expect((await run.result).stopReason).to.equal('max_tokens');
    // What counts is the answer's last part.
    const other = client.send('main', 'Weather?');
    (await endpoint.next()).call('call_1', 'weather', { city: 'Rome' }).finish('length');
    (await endpoint.next()).text('Clear.').finish();
    expect((await other.result).stopReason).to.equal('end');
  });

  it('uses the SDK’s own runner where it is given none', async () => {
    const endpoint = await ChatEndpoint.start();
    const { client } = await serve(agentsApp({ agent: agent(endpoint), description: 'Helps' }));
    const run = client.send('main', 'Hello');
    (await endpoint.next()).text('Hi').finish();
    expect(textOf((await run.result).message)).to.equal('Hi');
  });

  it('streams from the Responses API: reasoning summaries, text, tool calls, and how it ended', async () => {
    const endpoint = await ChatEndpoint.start();
    const model = new OpenAIResponsesModel(openai(endpoint), 'tiny');
    const { client } = await serve(
      agentsApp({ agent: new Agent({ name: 'Helper', model, tools: [weather, erase] }), runner }),
    );
    const run = client.send('main', 'Hello');
    const seen = follow(run);
    const answer = async (output: object[], deltas: object[], more: object = {}) => {
      const { body, response } = await endpoint.next();
      const whole = {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        output,
        usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
        ...more,
      };
      const type = whole.status === 'completed' ? 'response.completed' : 'response.incomplete';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [
        { type: 'response.created', response: whole },
        ...deltas,
        { type, response: whole },
      ])
        response.write(`event: ${(event as any).type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
      return body;
    };
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Rome"}',
      status: 'completed',
    };
    await answer(
      [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Look.' }] }, call],
      [{ type: 'response.reasoning_summary_text.delta', delta: 'Look.', item_id: 'rs_1' }],
    );
    const said = { type: 'output_text', text: 'Clear', annotations: [] };
    const body = await answer(
      [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'incomplete', content: [said] }],
      [{ type: 'response.output_text.delta', delta: 'Clear', item_id: 'msg_1' }],
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    );
    expect(body.input.at(-1)).to.deep.include({ type: 'function_call_output', call_id: 'call_1' });
    expect(await seen).to.deep.equal([
      ['reasoning_delta', 'Look.'],
      ['tool_use', 'call_1', 'weather', { city: 'Rome' }],
      ['tool_result', 'call_1', 'weather', { city: 'Rome', sky: 'clear' }, false],
      ['content_delta', 'Clear'],
      ['message_end', 'max_tokens'],
    ]);
  });
});
