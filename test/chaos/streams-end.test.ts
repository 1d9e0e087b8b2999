import { expect } from 'chai';
import { get, post, TOKEN } from '../support/gateway.js';
import { randomOf } from '../support/random.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { ChaosCluster } from './chaos-cluster.js';
import type { ChaosNode } from './chaos-node.js';
import { Closing } from './closing.js';
import { describeCluster } from './stores/index.js';

const follow = ({ url }: ChaosNode): Promise<RawStream> =>
  openStream(`${url}/events?sessionId=main&from=earliest`, { headers: { authorization: `Bearer ${TOKEN}` } });

const ready = async ({ url }: ChaosNode): Promise<boolean> => (await get(`${url}/readyz`)).status === 200;

const says = async ({ url }: ChaosNode, text: string): Promise<boolean> =>
  (
    await post(`${url}/send`, {
      sessionId: 'main',
      message: text,
      idempotencyKey: text.replaceAll(/\W/g, '-'),
    })
  ).status === 200;

const ends = ({ event }: { readonly event: string }): boolean => event === 'message_end';

describeCluster('a gateway that is cut off from the store for longer than its lease', function (under) {
  this.timeout(120_000);
  const closing = new Closing();
  afterEach(() => closing.close());

  it('ends its event streams, so that others serve them, until it reaches the store again', async function () {
    const cluster = await ChaosCluster.start({ under, random: randomOf(3), closing });
    // The store of the tests themselves is not asked whether it can be written.
    if (cluster.store.kind === 'hub') return this.skip();
    const [away, other] = cluster.nodes as [ChaosNode, ChaosNode];
    expect(await says(away, 'a/1 say 3')).to.equal(true);
    const stream = await follow(away);
    await stream.until(ends);
    away.back.set('cut');
    await stream.ended;
    expect(stream.retryMs).to.be.a('number');
    await until(async () => !(await ready(away)));
    await until(() => says(other, 'a/2 say 3'));
    // Whoever comes back to it is sent away too; a 503 would stop an `EventSource` for good.
    const again = await follow(away);
    await again.ended;
    expect([again.events, typeof again.retryMs]).to.deep.equal([[], 'number']);
    away.back.set('open');
    await until(() => ready(away));
    const back = await follow(away);
    await back.until(({ event, data }) => ends({ event }) && data.message.content[0].text.includes('a/2'));
    back.close();
  });
});
