import { expect } from 'chai';
import { a2aApp } from '../../../server/app-adapters/a2a/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { ServedAgent, text } from './served-agent.js';

/** The answer of the first run of a session, and the pieces that its reader got. */
async function endOf(events: AsyncIterable<GatewayEvent>) {
  const deltas: string[] = [];
  for await (const event of events) {
    if (event.type === 'content_delta') deltas.push(event.delta);
    if (event.type === 'message_end') return { ...event, deltas };
  }
  throw new Error('The run has no end');
}

describe('an app of A2A after a restart', () => {
  it('takes its task up: what it said meanwhile is told, nothing twice, and the agent is asked once', async () => {
    const agent = await ServedAgent.start();
    const path = newDatabase();
    const config = () => ({ app: a2aApp({ url: agent.url }) });
    const first = await startDurable(path, config() as never);
    const run = connectClient(first.url).send('main', 'Tell');
    const turn = await agent.next();
    turn.begin().state('TASK_STATE_WORKING', text('I think.')).artifact('a', false, text('Half a'));
    for await (const { type } of run) if (type === 'content_delta') break;
    const copy = crashed(path);
    turn.artifact('a', true, text(' sent'));
    const second = await startDurable(copy, config() as never);
    const events = connectClient(second.url).events('main', { from: 'earliest' });
    for await (const event of events) if (event.type === 'content_delta' && event.delta === ' sent') break;
    turn.artifact('a', true, text('ence.')).complete();
    const { message, stopReason, deltas } = await endOf(
      connectClient(second.url).events('main', { from: 'earliest' }),
    );
    expect(deltas).to.deep.equal(['Half a', ' sent', 'ence.']);
    expect([textOf(message), stopReason]).to.deep.equal(['Half a sentence.', 'end']);
    expect(agent.turns).to.have.length(1);
    expect(agent.cancelled).to.have.length(0);
  });

  it('takes its open question up, and sends the answer to the same task', async () => {
    const agent = await ServedAgent.start();
    const path = newDatabase();
    const config = () => ({ app: a2aApp({ url: agent.url }) });
    const first = await startDurable(path, config() as never);
    const run = connectClient(first.url).send('main', 'Book');
    const one = await agent.next();
    one.begin().artifact('a', false, text('Well.'));
    one.state('TASK_STATE_INPUT_REQUIRED', text('Where?')).end();
    let callId = '';
    for await (const event of run) {
      if (event.type !== 'input_required') continue;
      callId = event.callId;
      break;
    }
    const second = await startDurable(crashed(path), config() as never);
    const client = connectClient(second.url);
    const events = client.events('main', { from: 'earliest' });
    await client.session('main').respond(callId, { output: 'Rome' });
    const two = await agent.next();
    expect(two.context.taskId).to.equal(one.context.taskId);
    expect(two.parts).to.deep.equal(['Rome']);
    two.begin().state('TASK_STATE_WORKING').artifact('b', false, text('Booked.')).complete();
    const { message } = await endOf(events);
    expect(textOf(message)).to.equal('Well.\n\nBooked.');
    expect(agent.turns).to.have.length(2);
  });
});
