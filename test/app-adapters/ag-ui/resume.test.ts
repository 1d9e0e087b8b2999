import { expect } from 'chai';
import { agUiApp } from '../../../server/app-adapters/ag-ui/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { ServedAgent } from './served-agent.js';

/** The answer of the first run of a session, and the pieces that its reader got. */
async function endOf(events: AsyncIterable<GatewayEvent>) {
  const deltas: string[] = [];
  for await (const event of events) {
    if (event.type === 'content_delta') deltas.push(event.delta);
    if (event.type === 'message_end') return { ...event, deltas };
  }
  throw new Error('The run has no end');
}

describe('a resumable app of AG-UI', () => {
  it('takes up an open approval after a crash, without asking the agent again', async () => {
    const agent = await ServedAgent.start();
    const path = newDatabase();
    const config = () => ({ app: agUiApp({ url: agent.url, resumable: true }) });
    const first = await startDurable(path, config() as never);
    const run = connectClient(first.url).send('main', 'Send it');
    const asked = await agent.next();
    asked
      .start()
      .say('Well.')
      .tell({ type: 'STATE_SNAPSHOT', snapshot: { n: 1 } });
    asked.call('c1', 'send', { to: 'a' }).interrupt({ id: 'i1', reason: 'tool_call', toolCallId: 'c1' });
    for await (const { type } of run) if (type === 'tool_confirmation_required') break;
    const second = await startDurable(crashed(path), config() as never);
    const client = connectClient(second.url);
    const events = client.events('main', { from: 'earliest' });
    await client.session('main').approve('c1');
    const resumed = await agent.next(2);
    expect(resumed.input.threadId).to.equal(asked.input.threadId);
    expect(resumed.input.runId).to.equal(`${asked.input.runId}:2`);
    expect(resumed.input.state).to.deep.equal({ n: 1 });
    expect(resumed.input.resume).to.deep.equal([
      { interruptId: 'i1', status: 'resolved', payload: { approved: true } },
    ]);
    expect(resumed.input.messages.slice(1)).to.deep.equal([
      { id: 'm1', role: 'assistant', content: 'Well.' },
      {
        ...{ id: 'c1', role: 'assistant' },
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'send', arguments: '{"to":"a"}' } }],
      },
    ]);
    resumed.start().result('c1', 'sent').say('Done.', 'm2').finish();
    const { message, stopReason } = await endOf(events);
    expect(stopReason).to.equal('end');
    expect(message.content.map(({ type }) => type)).to.deep.equal([
      ...['text', 'tool_use', 'data', 'tool_result', 'text'],
    ]);
    expect(agent.asked).to.have.length(2);
  });

  it('asks again by the same thread and run what was cut off, and says nothing twice', async () => {
    const agent = await ServedAgent.start();
    const path = newDatabase();
    const config = () => ({ app: agUiApp({ url: agent.url, resumable: true }) });
    const first = await startDurable(path, config() as never);
    const run = connectClient(first.url).send('main', 'Tell');
    const asked = await agent.next();
    asked.start().call('c1', 'look', {}).result('c1', 'sky').open().text('Half a');
    for await (const { type } of run) if (type === 'content_delta') break;
    const second = await startDurable(crashed(path), config() as never);
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    const again = await agent.next(2);
    expect(again.input).to.deep.equal(asked.input);
    again.start().call('c1', 'look', {}).result('c1', 'sky').say('Half a sentence.').finish();
    const { message, deltas } = await endOf(events);
    expect(deltas).to.deep.equal(['Half a', ' sentence.']);
    expect(textOf(message)).to.equal('Half a sentence.');
    expect(message.content.filter(({ type }) => type !== 'text')).to.have.length(2);
  });
});
