import { sessionSchedules } from '../../client/schedules/index.js';
import { defineApp } from '../../server/index.js';
import type { EventOf, GatewayEvent } from '../../shared/events.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { TestClock } from './test-clock.js';

export const DAY = 86_400_000;
export type Fired = EventOf<'schedule_fired'>;
export const isFired = (event: GatewayEvent): event is Fired => event.type === 'schedule_fired';

/** An app that says what began its run. */
export const reporter = defineApp({
  async *run(turn) {
    yield JSON.stringify({ trigger: turn.trigger, user: turn.user?.id, text: turn.text });
  },
});

/** A gateway whose store goes by a clock of the test's, and the schedules of its session `main`. */
export async function begin(limits: object = {}, app = reporter) {
  const clock = new TestClock();
  const { url } = await startGateway({ app, limits: { scheduleMinMs: 1, ...limits }, store: clock.store });
  const client = connectClient(url);
  const events = client.events('main', { from: 'earliest' });
  return { clock, url, client, events, ...sessionSchedules(client, 'main') };
}
