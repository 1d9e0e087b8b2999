import { expect } from 'chai';
import { anthropicApp } from '../../../server/app-adapters/anthropic/index.js';
import { tool } from '../../../server/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import type { MessagesRequest } from '../../support/messages-request.js';

describe('a resumable anthropic app', () => {
  it('takes up an open confirmation after a crash; the model gets what it had thought, signed, and is asked nothing twice', async () => {
    const endpoint = await ChatEndpoint.start();
    const ran: unknown[] = [];
    const erase = tool({ confirm: true, handler: (input) => ran.push(input) && 'erased' });
    const app = () =>
      anthropicApp({ baseURL: endpoint.origin, model: 'tiny', tools: { erase }, resumable: true });
    const path = newDatabase();
    const first = await startDurable(path, { app: app() });
    const sent = connectClient(first.url).send('main', 'Erase it');
    const request = (await endpoint.next()) as MessagesRequest;
    request
      .block({ type: 'thinking', thinking: '', signature: '' })
      .delta({ type: 'thinking_delta', thinking: 'Hm.' })
      .delta({ type: 'signature_delta', signature: 'c2ln' });
    request.text('Well. ').call('a', 'erase', { path: '/a' }).finish('tool_calls');
    let callId = '';
    for await (const event of sent) {
      if (event.type !== 'tool_confirmation_required') continue;
      callId = event.callId;
      break;
    }
    const second = await startDurable(crashed(path), { app: app() });
    const client = connectClient(second.url);
    const events = client.events('main', { from: 'earliest' });
    await client.session('main').approve(callId);
    const again = await endpoint.next(2);
    expect(again.body.messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'text', text: 'Well. ', citations: null },
          { type: 'tool_use', id: 'a', name: 'erase', input: { path: '/a' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'erased' }] },
    ]);
    again.say('Done.');
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect([event.stopReason, textOf(event.message)]).to.deep.equal(['end', 'Well. Done.']);
      expect(event.message.content.filter(({ type }) => type === 'reasoning')).to.have.length(1);
      expect(event.usage).to.include({ inputTokens: 6, outputTokens: 4 });
      break;
    }
    expect(ran).to.deep.equal([{ path: '/a' }]);
    expect(endpoint.asked).to.have.length(2);
  });
});
