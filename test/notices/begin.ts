import type { GatewayConfig } from '../../server/config/config.js';
import type { NotifyOptions } from '../../server/features/notices/index.js';
import { defineApp } from '../../server/index.js';
import { TestClock } from '../schedules/test-clock.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { SECRET } from './receiver.js';

/** An app that answers, or asks first where it is told so. */
export const asker = defineApp({
  resumable: true,
  async *run(turn) {
    if (turn.text.startsWith('ask'))
      yield `You said ${await turn.ask({ name: 'colour', payload: 'Which?' })}`;
    else if (turn.text === 'fail') throw new Error('no');
    else yield `did ${turn.text}`;
  },
});

/** A gateway whose store goes by a clock of the test's, and that tells a receiver of all at once. */
export async function begin(
  url: string,
  notify: NotifyOptions = {},
  config: Partial<GatewayConfig<any, any, any>> = {},
) {
  const clock = new TestClock();
  const {
    gateway,
    url: at,
    log,
  } = await startGateway({
    ...{ app: asker, store: clock.store },
    notify: {
      ...{ webhooks: { url, secrets: SECRET, name: 'test' }, unseenMs: 0, allowPrivate: true },
      ...notify,
    },
    ...config,
  });
  return { clock, gateway, log, url: at, client: connectClient(at) };
}
