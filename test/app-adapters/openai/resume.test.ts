import { expect } from 'chai';
import fc from 'fast-check';
import { openaiApp } from '../../../server/app-adapters/openai/index.js';
import { remainsOf } from '../../../server/app-adapters/openai/resume.js';
import { tool } from '../../../server/index.js';
import { type ContentBlock, textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';

/** A resumable app whose tool asks first, and counts what it ran. */
function resumable(url: string) {
  const ran: unknown[] = [];
  const erase = tool({
    confirm: true,
    handler: (input) => {
      ran.push(input);
      return 'erased';
    },
  });
  return { ran, app: openaiApp({ baseURL: url, model: 'tiny', tools: { erase }, resumable: true }) };
}

describe('a resumable openai app', () => {
  it('takes up an open confirmation after a crash, and the model goes on', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: resumable(endpoint.url).app });
    const before = connectClient(first.url);
    const sent = before.send('main', 'Erase it');
    const request = await endpoint.next(1);
    request.chunk({ content: 'Well.' });
    request.calls({ id: 'a', name: 'erase', input: '{"path":"/a"}' }).finish('tool_calls');
    let callId = '';
    for await (const event of sent) {
      if (event.type !== 'tool_confirmation_required') continue;
      callId = event.callId;
      break;
    }
    const { app, ran } = resumable(endpoint.url);
    const second = await startDurable(crashed(path), { app });
    const after = connectClient(second.url);
    const events = after.events('main', { from: 'earliest' });
    await after.approve('main', callId);
    const again = await endpoint.next(2);
    expect(again.body.messages).to.deep.equal([
      { role: 'user', content: 'Erase it' },
      {
        role: 'assistant',
        content: 'Well.',
        tool_calls: [
          { id: callId, type: 'function', function: { name: 'erase', arguments: '{"path":"/a"}' } },
        ],
      },
      { role: 'tool', tool_call_id: callId, content: 'erased' },
    ]);
    again.say('Done.');
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect(event.stopReason).to.equal('end');
      expect(event.message.content.map(({ type }) => type)).to.deep.equal([
        'text',
        'tool_use',
        'tool_result',
        'text',
      ]);
      break;
    }
    expect(ran).to.deep.equal([{ path: '/a' }]);
  });

  it('asks the model again for the step that was cut off', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: resumable(endpoint.url).app });
    const run = connectClient(first.url).send('main', 'Hello');
    (await endpoint.next(1)).chunk({ content: 'Half' });
    await run.text[Symbol.asyncIterator]().next();
    const second = await startDurable(crashed(path), { app: resumable(endpoint.url).app });
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    const again = await endpoint.next(2);
    expect(again.body.messages).to.deep.equal([{ role: 'user', content: 'Hello' }]);
    again.say(' and whole.');
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect(textOf(event.message)).to.equal('Half and whole.');
      break;
    }
  });

  it('keeps what was begun of an answer, and makes again what has no result', () => {
    const call = (n: number): ContentBlock => ({ type: 'tool_use', callId: `c${n}`, name: 'x', input: n });
    const result = (n: number): ContentBlock => ({
      type: 'tool_result',
      callId: `c${n}`,
      name: 'x',
      output: n,
      isError: false,
    });
    const text: ContentBlock = { type: 'text', text: 'Hm' };
    expect(remainsOf({ content: [text, call(1), call(2), result(2), text] })).to.deep.equal({
      content: [text, call(1), call(2), result(2)],
      open: [call(1)],
    });
    const block = fc.oneof(fc.constant(text), fc.nat(4).map(call), fc.nat(4).map(result));
    fc.assert(
      fc.property(fc.array(block), (content) => {
        const { content: kept, open } = remainsOf({ content });
        expect(content.slice(0, kept.length)).to.deep.equal(kept);
        expect(content.slice(kept.length).every(({ type }) => type === 'text')).to.equal(true);
        expect(kept.at(-1)?.type).to.not.equal('text');
        for (const { callId } of open) {
          expect(kept.some((it) => it.type === 'tool_result' && it.callId === callId)).to.equal(false);
        }
      }),
    );
  });
});
