import { expect } from 'chai';
import { randomOf } from '../support/random.js';
import { AWAY, becomes, follow, insist, read, say } from './by-http.js';
import { ChaosCluster } from './chaos-cluster.js';
import type { ChaosNode } from './chaos-node.js';
import { Closing } from './closing.js';
import { describeCluster } from './stores/index.js';

describeCluster('a gateway that is cut off from the store for longer than its lease', function (under) {
  this.timeout(120_000);
  const closing = new Closing();
  afterEach(() => closing.close());

  it('ends its event streams, so that others serve them, until it reaches the store again', async () => {
    const cluster = await ChaosCluster.start({ under, random: randomOf(3), closing });
    const [away, other] = cluster.nodes as [ChaosNode, ChaosNode];
    expect((await say(away, 'main', 'a/1 say 3')).status).to.equal(200);
    const stream = await follow(away, 'main');
    await stream.until(({ event }) => event === 'message_end');
    away.back.set('cut');
    await stream.ended;
    expect(stream.retryMs).to.be.a('number');
    await becomes(away, AWAY);
    await insist(other, 'main', 'a/2 say 3');
    // Whoever comes back to it is sent away too; a 503 would stop an `EventSource` for good.
    const again = await follow(away, 'main');
    await again.ended;
    expect([again.events, typeof again.retryMs]).to.deep.equal([[], 'number']);
    away.back.set('open');
    await becomes(away, 'ready');
    const back = await read(away, 'main', {
      isIt: ({ event, data }) => event === 'message_end' && data.message.content[0].text.includes('a/2'),
    });
    back.close();
  });
});
