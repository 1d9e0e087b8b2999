import { expect } from 'chai';
import OpenAI from 'openai';
import { defineApp } from '../../../server/index.js';
import { chatCompletionsPlugin } from '../../../server/plugins/chat-completions/index.js';
import { failure } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { byName } from '../../support/users.js';
import { says, tools } from './fixtures.js';

function looking(resumable: boolean) {
  return defineApp({
    resumable,
    async *run(turn) {
      if (turn.message.role === 'tool') return void (yield `${turn.history.length} before the result`);
      if (!turn.resumed) yield 'Looking. ';
      const both = ['a', 'b'].map((name) => turn.callTool('look' as never, { name } as never));
      yield `Saw ${(await Promise.all(both)).join()}`;
    },
  });
}

async function start(path: string, resumable: boolean): Promise<OpenAI> {
  const { gateway, url } = await startDurable(path, { app: looking(resumable), auth: byName });
  gateway.use(chatCompletionsPlugin());
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'alice', maxRetries: 0 });
}

describe('a completion whose gateway was restarted before the tool message came', () => {
  for (const [resumable, kept, expected] of [
    [true, true, 'Saw 1,2'],
    [false, true, '2 before the result'],
    [false, false, '2 before the result'],
  ] as const) {
    const what = `${resumable ? 'a resumable' : 'another'} app, ${kept ? 'a kept' : 'no'} session`;
    it(`goes on: ${what}`, async () => {
      const path = newDatabase();
      const options = kept ? { headers: { 'x-session-id': 'kept' } } : {};
      const body = { ...says('Go'), tools: tools('look') };
      const first = await (await start(path, resumable)).chat.completions.create(body, options);
      const { message } = first.choices[0]!;
      const results = message.tool_calls!.map(({ id }, at) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: String(at + 1),
      }));
      const second = await start(crashed(path), resumable);
      const messages = [...body.messages, message, ...results];
      if (resumable) {
        const part = { ...body, messages: messages.slice(0, -1) };
        const refused = await failure(second.chat.completions.create(part, options));
        expect(refused).to.include({ status: 400, param: 'messages' });
      }
      const { choices } = await second.chat.completions.create({ ...body, messages }, options);
      expect(choices[0]!.message.content).to.equal(expected);
      expect(choices[0]!.finish_reason).to.equal('stop');
    });
  }
});
