import { expect } from 'chai';
import { get } from '../support/gateway.js';
import { randomOf } from '../support/random.js';
import type { RawEvent, RawStream } from '../support/sse-client.js';
import { AWAY, becomes, follow, insist, read, readinessOf, say } from './by-http.js';
import { ChaosCluster } from './chaos-cluster.js';
import type { ChaosNode } from './chaos-node.js';
import { Closing } from './closing.js';
import { answerTo, saidOf } from './script.js';
import { describeCluster } from './stores/index.js';

/** Whether it is the end of the answer to a message. */
const ends =
  (text: string) =>
  ({ event, data }: RawEvent): boolean =>
    event === 'message_end' && saidOf(data.message.content).text === answerTo(text);

/** Goes on at a gateway where a stream was, unless that has come to the end of an answer: all that both were told up to there. */
async function goOn(node: ChaosNode, stream: RawStream, text: string): Promise<readonly RawEvent[]> {
  stream.close();
  await stream.ended;
  if (stream.logged.some(ends(text))) return stream.logged;
  const after = stream.logged.at(-1)!.id;
  const next = await read(node, 'main', { isIt: ends(text), after });
  expect(next.events.map(({ event }) => event)).to.not.include.members(['gap', 'snapshot']);
  return [...stream.logged, ...next.logged];
}

describeCluster('three gateways on a store that is away for longer than a lease', (under) => {
  const closing = new Closing();
  let cluster: ChaosCluster;

  beforeEach(async () => {
    cluster = await ChaosCluster.start({ under, random: randomOf(3), closing });
  });

  afterEach(() => closing.close());

  for (const state of ['cut', 'held'] as const) {
    it(`say so where one of them does not reach it: its line is ${state}`, async () => {
      const [away, other, third] = cluster.nodes as [ChaosNode, ChaosNode, ChaosNode];
      expect((await say(away, 'main', 'a/1 say 3')).status).to.equal(200);
      const streams = await Promise.all([away, other].map((node) => follow(node, 'main')));
      for (const stream of streams) await stream.until(ends('a/1 say 3'));
      away.back.set(state);
      await becomes(away, AWAY);
      expect((await get(`${away.url}/healthz`)).status).to.equal(200);
      expect((await say(away, 'new', 'a/2 say 3')).status).to.equal(503);
      // The others take what it held, and serve its clients.
      for (const node of [other, third]) expect(await readinessOf(node)).to.equal('ready');
      await insist(third, 'main', 'a/3 say 3');
      await streams[1]!.until(ends('a/3 say 3'));
      const elsewhere = await goOn(third, streams[0]!, 'a/3 say 3');
      expect(elsewhere).to.deep.equal(streams[1]!.logged);
      expect(await readinessOf(away)).to.equal(AWAY);
      away.back.set('open');
      await becomes(away, 'ready');
      await insist(away, 'main', 'a/4 say 3');
      const back = await read(away, 'main', { isIt: ends('a/4 say 3') });
      await streams[1]!.until(ends('a/4 say 3'));
      expect(back.logged).to.deep.equal(streams[1]!.logged);
    });
  }

  it('say so where none of them reaches it, and go on when it is there again', async () => {
    const { nodes, store } = cluster;
    expect((await say(nodes[0]!, 'main', 'a/1 say 3')).status).to.equal(200);
    const streams = await Promise.all(nodes.map((node) => follow(node, 'main')));
    for (const stream of streams) await stream.until(ends('a/1 say 3'));
    await store.kill();
    for (const node of nodes) {
      await becomes(node, AWAY);
      expect((await get(`${node.url}/healthz`)).status).to.equal(200);
      expect((await say(node, 'new', 'a/2 say 3')).status).to.equal(503);
    }
    await store.start();
    for (const node of nodes) await becomes(node, 'ready');
    await insist(nodes[1]!, 'main', 'a/3 say 3');
    const [first, ...others] = await Promise.all(
      streams.map((stream, n) => goOn(nodes[n]!, stream, 'a/3 say 3')),
    );
    for (const other of others) expect(other).to.deep.equal(first);
  });
});
