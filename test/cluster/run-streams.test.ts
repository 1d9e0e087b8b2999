import { expect } from 'chai';
import { post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, sides, startNodes, waiting } from '../support/nodes.js';
import { postStream, type RawStream } from '../support/sse-client.js';

/** Sends a message and follows its run, as a client does that is no more than a request. */
const follow = ({ url }: Node, message: string): Promise<RawStream> =>
  postStream(`${url}/send`, { sessionId: 'main', message, idempotencyKey: message });

/** Two gateways; at one of them a run is followed that the other one holds. */
async function following() {
  const hub = new MemoryHub();
  const { app, letGo } = waiting();
  const nodes = await startNodes(hub, { app }, 2);
  const accepted = await nodes[0]!.client.send('main', 'hello').result;
  expect(accepted.stopReason).to.equal('end');
  const { holder, other } = sides(hub, nodes);
  const stream = await follow(other, 'wait');
  await stream.until(({ event }) => event === 'content_delta');
  return { hub, holder, other, stream, letGo };
}

describe('the stream of a run that another gateway holds', () => {
  it('ends where its session is deleted', async () => {
    const { holder, stream } = await following();
    expect((await post(`${holder.url}/delete`, { sessionId: 'main' })).status).to.equal(200);
    await stream.ended;
  });

  it('ends where the store has forgotten the run', async () => {
    const { hub, holder, stream } = await following();
    hub.forget('main', 9);
    holder.node.kill();
    await stream.ended;
  });
});
