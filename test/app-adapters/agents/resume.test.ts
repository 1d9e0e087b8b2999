import { tool } from '@openai/agents';
import { expect } from 'chai';
import { agentsApp } from '../../../server/app-adapters/agents/index.js';
import { textOf } from '../../../shared/messages.js';
import { ChatEndpoint } from '../../support/chat-endpoint.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { gate } from '../../support/gate.js';
import { agent, erasing, runner } from './agents.js';

/** An app whose agent erases what a person approves, and what it erased. */
function eraser(endpoint: ChatEndpoint, work: () => unknown = () => {}) {
  const erased: string[] = [];
  const erase = tool({
    ...erasing,
    needsApproval: true,
    execute: async ({ path }) => {
      erased.push(path);
      await work();
      return `erased ${path}`;
    },
  });
  return { erased, app: agentsApp({ agent: agent(endpoint, { tools: [erase] }), runner }) };
}

/** Sends, and resolves with the id of the question that the agent's call leads to. */
async function askedAt(url: string, endpoint: ChatEndpoint): Promise<string> {
  const run = connectClient(url).send('main', 'Erase');
  (await endpoint.next(1)).text('Let me. ').call('call_1', 'erase', { path: 'a' }).finish('tool_calls');
  for await (const event of run) if (event.type === 'tool_confirmation_required') return event.callId;
  throw new Error('nobody was asked');
}

describe('a run of the Agents SDK over a restart', () => {
  it('waits on for its approval, and goes on with it by itself', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const first = await startDurable(path, { app: eraser(endpoint).app });
    const callId = await askedAt(first.url, endpoint);
    const { app, erased } = eraser(endpoint);
    const second = await startDurable(crashed(path), { app });
    const client = connectClient(second.url);
    const session = client.session('main');
    await session.approve(callId);
    const events = session.events({ from: 'earliest' });
    const again = await endpoint.next(2);
    expect(again.body.messages.at(-1)).to.include({ role: 'tool', content: 'erased a' });
    again.text('Done.').finish();
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect(event.stopReason).to.equal('end');
      expect(textOf(event.message)).to.equal('Let me. Done.');
      expect(event.message.content.map(({ type }) => type)).to.deep.equal([
        'text',
        'tool_use',
        'tool_result',
        'text',
      ]);
      break;
    }
    expect(erased).to.deep.equal(['a']);
  });

  it('ends where a tool was at work, which is not called again', async () => {
    const endpoint = await ChatEndpoint.start();
    const path = newDatabase();
    const begun = gate<void>();
    const first = await startDurable(path, {
      app: eraser(endpoint, () => {
        begun.open();
        return new Promise(() => {});
      }).app,
    });
    const callId = await askedAt(first.url, endpoint);
    await connectClient(first.url).session('main').approve(callId);
    await begun.passed;
    const { app, erased } = eraser(endpoint);
    const second = await startDurable(crashed(path), { app });
    for await (const event of connectClient(second.url).events('main', { from: 'earliest' })) {
      if (event.type !== 'message_end') continue;
      expect(event.stopReason).to.equal('error');
      break;
    }
    expect(erased).to.deep.equal([]);
  });
});
