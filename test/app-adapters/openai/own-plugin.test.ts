import { expect } from 'chai';
import { z } from 'zod';
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { type Application, defineApp, GatewayError, type Turn, tool } from '../../../server/index.js';
import { chatCompletionsPlugin } from '../../../server/plugins/chat-completions/index.js';
import { connectClient } from '../../support/client.js';
import { type Gate, gate } from '../../support/gate.js';
import { startGateway, TOKEN } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';

/** A gateway whose app is the model of another gateway's app, with HTTP and the `openai` package between them. */
async function chain(model: Application, front: Partial<Parameters<typeof openaiApp>[0]> = {}) {
  const upstream = await startGateway({ apps: { model }, defaultApp: 'model' });
  upstream.gateway.use(chatCompletionsPlugin());
  const app = openaiApp({ baseURL: `${upstream.url}/v1`, apiKey: TOKEN, model: 'model', ...front });
  const { url, log } = await startGateway({ app });
  return { client: closeLater(connectClient(url), (it) => it.disconnect()), log, upstream };
}

const look = tool({
  description: 'Looks something up',
  schema: z.object({ what: z.string() }),
  handler: ({ what }) => `${what} found`,
});

describe('openaiApp with the model of our own chat completions', () => {
  it('streams text, reasoning and usage through both', async () => {
    const model = defineApp({
      async *run(turn) {
        yield { type: 'reasoning_delta', delta: 'Hm. ' };
        yield 'Hello ';
        yield turn.text;
        turn.usage({ inputTokens: 3, outputTokens: 2 });
      },
    });
    const { client } = await chain(model);
    const run = client.send('main', 'you');
    let text = '';
    for await (const delta of run.text) text += delta;
    expect(text).to.equal('Hello you');
    const { message, stopReason, usage } = await run.result;
    expect(stopReason).to.equal('end');
    expect(message.content).to.deep.equal([
      { type: 'reasoning', text: 'Hm. ' },
      { type: 'text', text: 'Hello you' },
    ]);
    expect(usage).to.include({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
  });

  for (const confirm of [false, true]) {
    it(`calls a tool of the front app that the model asks for${confirm ? ', once the person agreed' : ''}`, async () => {
      const model = defineApp({
        run: async (turn) => `It says: ${await (turn as Turn).callTool('look', { what: 'gold' })}`,
      });
      const { client } = await chain(model, { tools: { look: { ...look, confirm } } });
      const run = client.send('main', 'Look');
      const types: string[] = [];
      for await (const event of run) {
        types.push(event.type);
        if (event.type === 'tool_confirmation_required') await client.session('main').approve(event.callId);
      }
      expect(types.includes('tool_confirmation_required')).to.equal(confirm);
      const { message } = await run.result;
      const kinds = message.content.map(({ type }) => type);
      expect(kinds).to.deep.equal(['tool_use', 'tool_result', 'text']);
      expect(message.content.at(-1)).to.deep.equal({ type: 'text', text: 'It says: gold found' });
    });
  }

  it("an abort at the front ends the model's run", async () => {
    const ended: Gate<string> = gate();
    const model = defineApp({
      async *run(turn) {
        yield 'working';
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
      },
    });
    const { client, upstream } = await chain(model);
    upstream.gateway.on('run:ended', ({ stopReason }) => ended.open(stopReason));
    const run = client.send('main', 'Go');
    for await (const delta of run.text) {
      expect(delta).to.equal('working');
      await run.abort();
    }
    expect((await run.result).stopReason).to.equal('aborted');
    expect(await ended.passed).to.equal('aborted');
  });

  it('a failure of the model, before and within its answer, ends the run as an error without its words', async () => {
    for (const said of [[], ['half ']]) {
      const model = defineApp({
        async *run() {
          yield* said;
          throw new GatewayError({ code: 'OVERLOADED', message: 'the secret is hunter2' });
        },
      });
      const { client, log } = await chain(model);
      const run = client.send('main', 'Go');
      const types: string[] = [];
      for await (const { type } of run) types.push(type);
      expect(types.slice(-2)).to.deep.equal(['run_error', 'message_end']);
      const { stopReason, error } = await run.result;
      expect(stopReason).to.equal('error');
      expect(error).to.deep.equal({ code: 'UPSTREAM_FAILED', message: "The app's upstream failed" });
      expect(log.lines.map(({ details }) => String((details as { err: Error }).err)).join()).to.contain(
        'hunter2',
      );
    }
  });

  it('carries the conversation along', async () => {
    const model = defineApp({
      run: async (turn) => turn.history.map(({ role }) => role[0]).join('') + turn.text,
    });
    const { client } = await chain(model, { instructions: 'Be brief' });
    await client.send('main', '1').result;
    const { message } = await client.send('main', '2').result;
    expect(message.content).to.deep.equal([{ type: 'text', text: 'sua2' }]);
  });
});
