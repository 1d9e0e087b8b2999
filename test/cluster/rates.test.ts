import { expect } from 'chai';
import { defineApp, method } from '../../server/index.js';
import { gate } from '../support/gate.js';
import { post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { as, byName } from '../support/users.js';

const app = defineApp({ run: () => 'unused' });
const methods = { ping: method({ handler: () => 'pong' }) };
const base = { app, methods, auth: byName };

/** Calls that a gateway lets through of a user's, until one is refused; its error. */
async function callsAt({ url }: Node, user = 'alice'): Promise<{ count: number; retryAfterMs: number }> {
  for (let count = 0; ; count++) {
    const { status, body } = await post(`${url}/invoke`, { method: 'ping' }, as(user));
    if (status === 200) continue;
    expect(body.error.code).to.equal('RATE_LIMITED');
    return { count, retryAfterMs: body.error.retryAfterMs };
  }
}

/** One call in so many seconds. */
const slow = { invokesPerSecond: 0.001 };

describe('rates of gateways that share a store', () => {
  it('are each gateway’s own', async () => {
    const nodes = await startNodes(new MemoryHub(), { ...base, limits: { invokesPerSecond: 2 } }, 2);
    for (const node of nodes) expect((await callsAt(node)).count).to.be.at.least(4);
  });

  it('are one for all of them where they tell each other, for each user', async () => {
    const hub = new MemoryHub();
    const nodes = await startNodes(hub, { ...base, limits: { ...slow, shareRatesMs: 10 } }, 2);
    const told = gate();
    hub.mail = (from, to) => {
      if (from === nodes[0]!.node.holder && to === nodes[1]!.node.holder) told.open();
      return 'come';
    };
    expect((await callsAt(nodes[0]!)).count).to.equal(1);
    await told.passed;
    expect((await callsAt(nodes[1]!)).count).to.equal(0);
    expect((await callsAt(nodes[1]!, 'bob')).count).to.equal(1);
  });
});
