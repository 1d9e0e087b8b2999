import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ToolLoopAgent, tool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { aiSdkApp } from '../../../server/app-adapters/ai-sdk/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { serve } from '../served.js';
import { asked, calls, ends, says, scriptedModel } from './scripted-model.js';

const broken = { type: 'error' as const, error: new Error('hunter2') };

for (const form of ['settings', 'agent', 'resumable'] as const) {
  const appOf = (model: any, models: any[], tools: any = {}) => {
    const settings = { model, maxRetries: 0, tools };
    const source = form === 'agent' ? new ToolLoopAgent(settings) : settings;
    return aiSdkApp(source as any, { models, resumable: form === 'resumable' });
  };

  describe(`the next model of an AI SDK app (${form})`, () => {
    it('answers where one breaks off: pages and history have one clean answer', async () => {
      const endpoint = await ChatEndpoint.start();
      const provider = createOpenAICompatible({ name: 'test', baseURL: endpoint.url, includeUsage: true });
      const { client } = await serve(appOf(provider('tiny'), [provider('small')]));
      const run = client.send('main', 'Hello');
      const first = await endpoint.next(1);
      first.text('Half of a wro');
      await run.text[Symbol.asyncIterator]().next();
      first.cut();
      const second = await endpoint.next(2);
      expect(second.body.model).to.equal('small');
      expect(second.body.messages).to.deep.equal(first.body.messages);
      second.text('A whole one.').finish();
      const { stopReason, message, usage } = await run.result;
      expect([stopReason, textOf(message)]).to.deep.equal(['end', 'A whole one.']);
      expect(usage).to.include({ inputTokens: 3, outputTokens: 2 });
      const { messages } = await client.session('main').history();
      expect(textOf(messages.at(-1)!)).to.equal('A whole one.');
    });

    it('is told apart in the usage, which is that of both', async () => {
      const first = scriptedModel([...says('Half'), broken, ends('error')]);
      const { client } = await serve(appOf(first, [scriptedModel([...says('Whole'), ends()])]));
      const { message, usage } = await client.send('main', 'Hello').result;
      expect(textOf(message)).to.equal('Whole');
      expect(usage).to.include({ inputTokens: 20, outputTokens: 10 });
    });

    it('begins anew where one ends with an error', async () => {
      const first = scriptedModel([...says('Half'), ends('error')]);
      const { client } = await serve(appOf(first, [scriptedModel([...says('Whole'), ends()])]));
      const { message, usage } = await client.send('main', 'Hello').result;
      expect(textOf(message)).to.equal('Whole');
      expect(usage).to.include({ inputTokens: 20, outputTokens: 10 });
    });

    it('goes on behind the results of tools, which are not called again, nor for an answer that broke off', async () => {
      const found: string[] = [];
      const find = tool({
        inputSchema: z.object({ what: z.string() }),
        execute: ({ what }) => {
          found.push(what);
          return `found ${what}`;
        },
      });
      const first = scriptedModel(
        [...says('I look. '), calls('find', { what: 'a' }), ends('tool-calls')],
        [...says('And aga'), calls('find', { what: 'b' }, 'call_1'), broken],
      );
      const second = scriptedModel([...says('It is here.'), ends()]);
      const { client } = await serve(appOf(first, [second], { find }));
      const { message, stopReason } = await client.send('main', 'Where?').result;
      expect(message.content.map(({ type, text = '' }: any) => [type, text])).to.deep.equal([
        ['text', 'I look. '],
        ['tool_use', ''],
        ['tool_result', ''],
        ['text', 'It is here.'],
      ]);
      expect([stopReason, found]).to.deep.equal(['end', ['a']]);
      expect(asked(second).prompt).to.deep.equal(asked(first, 1).prompt);
    });

    it('keeps what was said before a step that could not begin', async () => {
      const find = tool({ inputSchema: z.object({}), execute: () => 'found' });
      const first = scriptedModel([...says('I look. '), calls('find', {}), ends('tool-calls')]);
      const second = scriptedModel([...says('Here.'), ends()]);
      const { client } = await serve(appOf(first, [second], { find }));
      const { message } = await client.send('main', 'Where?').result;
      expect(textOf(message)).to.equal('I look. Here.');
    });

    it('is the end of it if it fails too: the run ends as an error', async () => {
      const failing = () => scriptedModel([...says('Half'), broken]);
      const { client } = await serve(appOf(failing(), [failing()]));
      const { stopReason, error, message } = await client.send('main', 'Hello').result;
      expect([stopReason, error?.code, textOf(message)]).to.deep.equal(['error', 'UPSTREAM_FAILED', 'Half']);
    });
  });
}

describe('the next models of an AI SDK app', () => {
  it('are refused for a function, which chooses its own', () => {
    const models = [scriptedModel()];
    expect(() => aiSdkApp(() => ({}) as any, { models }))
      .to.throw('models')
      .with.property('code', 'INVALID_REQUEST');
  });
});
