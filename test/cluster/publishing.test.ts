import { expect } from 'chai';
import { DONE } from '../../server/held/publisher.js';
import { defineApp, method } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';
import { as, byName } from '../support/users.js';

const app = defineApp({
  async *run() {
    yield 'done';
  },
});

const methods = {
  tell: method({
    handler: (_params, context) => {
      context.emit('told', null);
    },
  }),
};

/** Events of the session `main` that follow, up to the end of a run. */
async function typesOf(node: Node): Promise<string[]> {
  const types: string[] = [];
  await node.client.send('main', 'last').result;
  for await (const event of node.client.events('main', { from: 'earliest' })) {
    types.push(event.type);
    if (types.filter((type) => type === 'message_end').length === 2) break;
  }
  return types;
}

/** A holder that does what it is asked and dies before anybody is told. */
async function dieUntold(asked: (other: Node) => Promise<unknown>, type: string) {
  const hub = new MemoryHub();
  let tries = 0;
  const counting = (store: Store): Store =>
    overriding(store, {
      append(log, events, options) {
        if (options.records?.some(({ kind }) => kind === DONE)) tries += 1;
        return store.append(log, events, options);
      },
    });
  const nodes = await startNodes(hub, { app, methods, auth: byName, store: counting }, 2);
  const told: string[] = [];
  for (const [i, { gateway }] of nodes.entries()) gateway.on('custom', () => told.push(`${i}`));
  await nodes[0]!.client.send('main', 'first').result;
  const [holder, other] = nodes as [Node, Node];
  let seen = 0;
  const following = (async () => {
    for await (const event of other.client.events('main', { from: 'earliest' })) {
      if (event.type !== type) continue;
      seen += 1;
      return;
    }
  })();
  hub.mail = (from) => (from === holder.node.holder ? 'lose' : 'come');
  const done = asked(other);
  await following;
  expect(seen).to.equal(1);
  holder.node.kill();
  await done;
  await until(() => tries === 2);
  const types = await typesOf(other);
  expect(types.filter((each) => each === type)).to.deep.equal([type]);
  return { told };
}

describe('what is published in a session that another gateway holds', () => {
  it('is published once where the holder did it and died before it said so', async () => {
    await dieUntold(
      ({ url }) => post(`${url}/channel`, { sessionId: 'main', channel: 'news', payload: 1 }, as('alice')),
      'channel',
    );
  });

  it('is emitted once, and heard at one of them', async () => {
    const { told } = await dieUntold(
      ({ url }) => post(`${url}/invoke`, { sessionId: 'main', method: 'tell' }, as('alice')),
      'custom',
    );
    expect(told).to.deep.equal(['0']);
  });
});
