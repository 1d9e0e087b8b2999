import { expect } from 'chai';
import { get, post, TOKEN } from '../support/gateway.js';
import { randomOf } from '../support/random.js';
import { openStream, type RawEvent, type RawStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { ChaosCluster } from './chaos-cluster.js';
import type { ChaosNode } from './chaos-node.js';
import { Closing } from './closing.js';
import { answerTo, saidOf } from './script.js';
import { describeCluster } from './stores/index.js';

/** What a gateway answers when it is asked whether it can take work. */
async function readinessOf({ url }: ChaosNode): Promise<string> {
  const { status, body } = await get(`${url}/readyz`);
  return status === 200 ? 'ready' : `${status} ${body.error.details.reason}`;
}

const AWAY = '503 store-unwritable';

const becomes = (node: ChaosNode, readiness: string): Promise<void> =>
  until(async () => (await readinessOf(node)) === readiness);

/** Follows a session, from a place or from its beginning. */
const follow = ({ url }: ChaosNode, sessionId: string, after?: string): Promise<RawStream> =>
  openStream(`${url}/events?sessionId=${sessionId}&from=earliest`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...(after !== undefined && { 'last-event-id': after }) },
  });

const say = ({ url }: ChaosNode, sessionId: string, text: string) =>
  post(`${url}/send`, { sessionId, message: text, idempotencyKey: text.replaceAll(/\W/g, '-') });

/** Says something as often as it takes: a gateway may still have to find out who holds the session. */
const insist = (node: ChaosNode, sessionId: string, text: string): Promise<void> =>
  until(async () => (await say(node, sessionId, text)).status === 200);

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
  const next = await follow(node, 'main', after);
  await next.until(ends(text));
  expect(next.events.map(({ event }) => event)).to.not.include.members(['gap', 'snapshot']);
  return [...stream.logged, ...next.logged];
}

describeCluster('three gateways on a store that is away for longer than a lease', (under) => {
  const closing = new Closing();
  let cluster: ChaosCluster;

  beforeEach(async function () {
    cluster = await ChaosCluster.start({ under, random: randomOf(3), closing });
    // The store of the tests themselves is not asked whether it can be written.
    if (cluster.store.kind === 'hub') this.skip();
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
      const back = await follow(away, 'main');
      for (const stream of [back, streams[1]!]) await stream.until(ends('a/4 say 3'));
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
