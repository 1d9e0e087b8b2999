import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { post, TOKEN } from '../support/gateway.js';
import { echo } from '../support/nodes.js';
import { openStream } from '../support/sse-client.js';
import { holdWallClock } from '../support/wall-clock.js';
import type { Gateways, Node } from './place.js';

const HOUR = 3_600_000;

const asking = defineApp({
  tools: {
    pay: tool({ confirm: { expiresInMs: HOUR / 6, onExpiry: 'approve' }, handler: () => 'paid' }),
  },
  run: async (turn: any) => turn.callTool('pay', {}).catch((error: Error) => `failed: ${error.message}`),
});

const authorization = `Bearer ${TOKEN}`;
const postTo = ({ url }: Node, path: string, body: object) => post(`${url}/${path}`, body, { authorization });

/** What gateways do whose own clock jumps, while that of their store is right. */
export function whileTheirClockJumps({ start }: Gateways): void {
  for (const [name, byMs] of [
    ['forward', HOUR],
    ['back', -HOUR],
  ] as const)
    describe(`when their clock jumps ${name} by an hour`, () => {
      it('count the answer of a person who is in time', async () => {
        const node = await start(asking);
        const run = node.client.send('main', 'pay');
        let asked: string | undefined;
        for await (const event of node.client.events('main', { from: 'earliest' })) {
          if (event.type !== 'tool_confirmation_required') continue;
          asked = event.callId;
          break;
        }
        holdWallClock()(byMs);
        const answer = { sessionId: 'main', callId: asked, approved: false };
        expect((await postTo(node, 'tool-response', answer)).status).to.equal(200);
        await run.result;
        let decided: GatewayEvent | undefined;
        for await (const event of node.client.events('main', { from: 'earliest' })) {
          if (event.type === 'tool_confirmation_result') decided = event as GatewayEvent;
          if (event.type === 'message_end') break;
        }
        expect(decided).to.include({ approved: false, by: 'token' }).and.not.have.property('expired');
      });

      it('take a schedule by the time that it is', async () => {
        const node = await start(echo);
        await node.client.send('main', 'hello').result;
        const at = Date.now() + 60_000;
        holdWallClock()(byMs);
        const { status, body } = await postTo(node, 'schedule', {
          ...{ sessionId: 'main', id: 'soon', message: 'pay', every: { ms: 60_000 } },
        });
        expect([status, body.error]).to.deep.equal([200, undefined]);
        expect(body.schedule.nextAt).to.be.closeTo(at, 50_000);
        const once = { sessionId: 'main', id: 'once', message: 'pay', at };
        expect((await postTo(node, 'schedule', once)).status).to.equal(200);
      });

      it('let in who has a ticket', async () => {
        const node = await start(echo);
        await node.client.send('main', 'hello').result;
        const { body } = await postTo(node, 'ticket', {});
        holdWallClock()(2 * byMs);
        const query = new URLSearchParams({ token: body.ticket, sessionId: 'main' });
        const { response } = await openStream(`${node.url}/events?${query}`);
        expect(response.status).to.equal(200);
      });
    });
}
