import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { remoteApp, serveApp } from '../../../server/app-adapters/remote/index.js';
import type { GatewayEvent } from '../../../shared/events.js';
import { textOf } from '../../../shared/messages.js';
import { deliveryFaults } from '../../../testing/index.js';
import { DOORS } from '../../plugins/conversation/doors.js';
import { connectClient } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { byName } from '../../support/users.js';
import { SECRET } from './killed-secret.js';

/** Slices of a run, and how long each may take: with `LONG_SLICE_MS=30000` runs take 10 minutes. */
const SLICES = 20;
const SLICE_MS = Number(process.env.LONG_SLICE_MS ?? 250);
const STEPS_A_SLICE = 5;
const STEPS = SLICES * STEPS_A_SLICE;
const ALL = Array.from({ length: STEPS }, (_, n) => `w${n + 1} `).join('');

describe('a run of many slices', function () {
  this.timeout(SLICE_MS * SLICES * 2 + 120_000);

  it('is exact at every door', async () => {
    const slices = new Map<string, number>();
    const done = new Map<string, number>();
    const server = await serveApp(
      {
        async *run(turn) {
          slices.set(turn.runId, (slices.get(turn.runId) ?? 0) + 1);
          for (let n = 1; n <= STEPS; n++) {
            const word = await turn.step(`s${n}`, async ({ key }) => {
              done.set(key, (done.get(key) ?? 0) + 1);
              await delay(SLICE_MS / STEPS_A_SLICE);
              return `w${n} `;
            });
            yield word;
          }
        },
      },
      { secret: SECRET },
    );
    closeLater(server, (it) => it.close());
    const { gateway, url } = await startGateway({
      auth: byName,
      app: remoteApp({ url: server.url, secret: SECRET, sliceMs: SLICE_MS }),
      limits: { runMs: 3_600_000 },
    });
    const plugins = new Map(DOORS.map((door) => door.plugin()).map((plugin) => [plugin.name, plugin]));
    for (const plugin of plugins.values()) gateway.use(plugin);
    const own = (['sse', 'websocket'] as const).map(async (transport) => {
      const client = connectClient(url, { transport, token: 'alice', WebSocket: WebSocket as never });
      const run = client.send(transport, 'Go');
      const events: GatewayEvent[] = [];
      for await (const event of client.events(transport, { from: 'earliest' })) {
        events.push(event);
        if (event.type === 'message_end') break;
      }
      const log: GatewayEvent[] = [];
      for await (const event of client.events(transport, { from: 'earliest' })) {
        log.push(event);
        if (event.type === 'message_end') break;
      }
      expect(deliveryFaults({ log, readers: [events] })).to.deep.equal([]);
      return textOf((await run.result).message);
    });
    const others = DOORS.map(async (door, at) => {
      const tab = await door.open({ url, session: `door-${at}` });
      return tab.say('Go');
    });
    expect(await Promise.all([...own, ...others])).to.deep.equal(Array(2 + DOORS.length).fill(ALL));
    expect(slices.size).to.equal(2 + DOORS.length);
    expect(Math.min(...slices.values())).to.be.at.least(SLICES);
    expect([...done.values()]).to.deep.equal(Array(slices.size * STEPS).fill(1));
  });
});
