import { expect } from 'chai';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { describeKilled, GatewayProcess } from '../../support/gateway-process.js';
import { ServedAgent, text } from './served-agent.js';

const PROGRAM = 'test/app-adapters/a2a/killed-program.ts';
const PIECES = ['Once ', 'upon ', 'a time.'];
const TEXT = PIECES.join('');

/** What a reader that stays sees of a session. */
class Reader {
  text = '';
  readonly #events: AsyncIterator<GatewayEvent>;

  constructor(events: AsyncIterable<GatewayEvent>) {
    this.#events = events[Symbol.asyncIterator]();
  }

  /** Reads up to an event of a type, or until the text has come this far. */
  async until(met: (event: GatewayEvent, text: string) => boolean): Promise<GatewayEvent> {
    for (;;) {
      const { value: event } = await this.#events.next();
      if (event.type === 'content_delta') this.text += event.delta;
      if (met(event, this.text)) return event;
    }
  }
}

/** Starts `count` gateways on one store. The first is asked, so it holds the session. */
async function gateways(place: string, count: number, agent: string): Promise<GatewayProcess> {
  const started: GatewayProcess[] = [];
  while (started.length < count) started.push(await GatewayProcess.start(PROGRAM, place, agent));
  return started[0]!;
}

describeKilled(
  'tasks of gateways that are killed',
  'are taken up: the text is exact, the question is asked once, and the agent is asked no message twice',
  async (place, count) => {
    const agent = await ServedAgent.start();
    const holder = await gateways(place, count, agent.url);
    const client = connectClient(holder.url);
    const session = client.session('main');
    const { runId } = await session.send('Tell').accepted;
    const reader = new Reader(client.events('main', { from: 'earliest' }));
    const one = await agent.next();
    one.begin();
    for (const [nth, piece] of PIECES.entries()) {
      one.artifact('a', nth > 0, text(piece));
      await reader.until((_, said) => said === PIECES.slice(0, nth + 1).join(''));
      await holder.restart();
    }
    one.state('TASK_STATE_INPUT_REQUIRED', text('More?')).end();
    const asked = await reader.until(({ type }) => type === 'input_required');
    await holder.restart();
    await session.respond((asked as GatewayEvent & { callId: string }).callId, { output: 'No' });
    const two = await agent.next();
    expect(two.parts).to.deep.equal(['No']);
    two.begin().complete(text('The end.'));
    const { message, stopReason } = await session.run(runId).result;
    expect([textOf(message), stopReason]).to.deep.equal([`${TEXT}\n\nThe end.`, 'end']);
    await reader.until(({ type }) => type === 'message_end');
    expect(reader.text).to.equal(`${TEXT}\n\nThe end.`);
    expect([agent.turns.length, agent.cancelled.length]).to.deep.equal([2, 0]);
  },
  120_000,
);
