import { Agent, OpenAIChatCompletionsModel } from '@openai/agents';
import { expect } from 'chai';
import { agentsApp } from '../../../server/app-adapters/agents/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { serve } from '../served.js';
import { agent, chatModel, openai, runner } from './agents.js';

const small = (endpoint: ChatEndpoint) => new OpenAIChatCompletionsModel(openai(endpoint), 'small');

/** An app whose agent falls over to a model named `small`. */
async function start() {
  const endpoint = await ChatEndpoint.start();
  const app = agentsApp({ agent: agent(endpoint), runner, models: [small(endpoint)] });
  return { endpoint, ...(await serve(app)) };
}

describe('the next model of an agents app', () => {
  it('answers where one breaks off: pages and history have one clean answer, with the usage of both', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Hello');
    const first = await endpoint.next(1);
    first.chunk(
      { content: 'Half of a wro' },
      { usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
    );
    await run.text[Symbol.asyncIterator]().next();
    first.cut();
    const second = await endpoint.next(2);
    expect(second.body.model).to.equal('small');
    expect(second.body.messages).to.deep.equal(first.body.messages);
    second.text('A whole one.').finish();
    const { stopReason, message, usage } = await run.result;
    expect([stopReason, textOf(message)]).to.deep.equal(['end', 'A whole one.']);
    expect(usage).to.include({ inputTokens: 6, outputTokens: 3 });
    const { messages } = await client.session('main').history();
    expect(textOf(messages.at(-1)!)).to.equal('A whole one.');
  });

  it('goes on behind the results of tools; the next call asks the first model again', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Weather?');
    (await endpoint.next(1))
      .text('I look. ')
      .call('call_1', 'weather', { city: 'Rome' })
      .finish('tool_calls');
    const broken = await endpoint.next(2);
    broken.text('It is ra');
    const text = run.text[Symbol.asyncIterator]();
    await text.next();
    await text.next();
    broken.cut();
    const second = await endpoint.next(3);
    expect(second.body.messages).to.deep.equal(broken.body.messages);
    second.text('Clear.').finish();
    const { message } = await run.result;
    expect(message.content.map(({ type, text: said = '' }: any) => [type, said])).to.deep.equal([
      ['text', 'I look. '],
      ['tool_use', ''],
      ['tool_result', ''],
      ['text', 'Clear.'],
    ]);
    const again = client.send('main', 'And now?');
    const third = await endpoint.next(4);
    expect(third.body.model).to.equal('tiny');
    expect(JSON.stringify(third.body.messages)).to.contain('Clear.').and.not.contain('It is ra');
    await again.abort();
  });

  it('is the end of it if it fails too: the run ends as an error', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Hello');
    for (const count of [1, 2]) (await endpoint.next(count)).fail(400, 'no');
    const { stopReason, error } = await run.result;
    expect([stopReason, error?.code]).to.deep.equal(['error', 'UPSTREAM_FAILED']);
  });

  it('may be given by its name, as that of an agent whose model is the runner’s', async () => {
    const endpoint = await ChatEndpoint.start();
    const named: (string | undefined)[] = [];
    const getModel = (name?: string) => {
      named.push(name);
      return name === 'little' ? small(endpoint) : chatModel(endpoint);
    };
    const { Runner } = await import('@openai/agents');
    const app = agentsApp({
      agent: new Agent({ name: 'Helper' }),
      runner: new Runner({ tracingDisabled: true, modelProvider: { getModel } as any }),
      models: ['little'],
    });
    const { client } = await serve(app);
    const run = client.send('main', 'Hello');
    (await endpoint.next(1)).fail(400, 'no');
    const second = await endpoint.next(2);
    expect(second.body.model).to.equal('small');
    second.text('Whole.').finish();
    expect(textOf((await run.result).message)).to.equal('Whole.');
    expect(named).to.deep.equal([undefined, 'little']);
  });

  it('is not asked once the run is aborted', async () => {
    const { endpoint, client } = await start();
    const run = client.send('main', 'Hello');
    const first = await endpoint.next(1);
    first.text('Half');
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    await first.closed;
    const { stopReason, message } = await run.result;
    expect([stopReason, textOf(message), endpoint.asked.length]).to.deep.equal(['aborted', 'Half', 1]);
  });
});
