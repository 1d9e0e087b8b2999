import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import { post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const app = defineApp({
  async *run() {
    yield 'done';
  },
});

const subscribe = ({ url }: Node, body: object, user = 'alice') => post(`${url}/subscribe`, body, as(user));

/** A stream of nothing yet at a gateway, with its connection's id. */
async function connect({ url }: Node) {
  const stream = await openStream(`${url}/events`, { headers: as('alice') });
  const { data } = await stream.until(({ event }) => event === 'connected');
  return { stream, connectionId: data.connectionId as string };
}

describe('connections of gateways that share a store', () => {
  it('follow other sessions when that is asked at another gateway', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName });
    const { stream, connectionId } = await connect(nodes[0]!);
    expect(connectionId.endsWith(`~${nodes[0]!.node.holder}`)).to.equal(true);
    const first = await subscribe(nodes[1]!, { connectionId, add: ['main', 'notes'] });
    expect(first.body).to.deep.equal({ subscriptions: ['main', 'notes'] });
    await stream.until(({ event, data }) => event === 'subscribed' && data.sessionId === 'notes');
    const second = await subscribe(nodes[2]!, { connectionId, remove: ['notes'] });
    expect(second.body).to.deep.equal({ subscriptions: ['main'] });
    await nodes[2]!.client.send('main', 'hello').result;
    await stream.until(({ event }) => event === 'message_end');
  });

  it('are their owners alone, also elsewhere, and follow what those may see', async () => {
    const sessionAccess = async (_user: unknown, { name }: { readonly name: string }) => name !== 'secret';
    const nodes = await startNodes(new MemoryHub(), { app, sessionAccess, auth: byName }, 2);
    const { connectionId } = await connect(nodes[0]!);
    const other = await subscribe(nodes[1]!, { connectionId, add: ['main'] }, 'bob');
    expect(other.body.error.code).to.equal('CONNECTION_NOT_FOUND');
    const refused = await subscribe(nodes[1]!, { connectionId, add: ['secret'] });
    expect(refused.body.error.code).to.equal('SESSION_NOT_FOUND');
  });

  it('are not found where they have ended, or their gateway has, or never was', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName }, 2);
    const { stream, connectionId } = await connect(nodes[0]!);
    const codeOf = async (id: string): Promise<string> =>
      (await subscribe(nodes[1]!, { connectionId: id, add: ['main'] })).body.error?.code;
    for (const id of ['conn_x~nobody', 'conn_x~', 'conn_x', `x~${nodes[0]!.node.holder}`])
      expect(await codeOf(id), id).to.equal('CONNECTION_NOT_FOUND');
    await nodes[0]!.gateway.close();
    await stream.ended;
    expect(await codeOf(connectionId)).to.equal('CONNECTION_NOT_FOUND');
  });

  it('go on with what the SDK subscribes to through another gateway', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName }, 2);
    const asked: string[] = [];
    // All but its streams go to the other gateway, as behind a balancer.
    const fetchThrough: typeof fetch = (given, init) => {
      const url = new URL(String(given));
      asked.push(`${init?.method ?? 'GET'} ${url.pathname}`);
      if (url.pathname !== '/events') url.port = new URL(nodes[1]!.url).port;
      return fetch(url, init);
    };
    const reader = closeLater(
      createClient({ baseUrl: nodes[0]!.url, token: 'alice', transport: 'sse', fetch: fetchThrough }),
      (it) => it.disconnect(),
    );
    for (const name of ['main', 'notes']) await nodes[1]!.client.send(name, 'hello').result;
    for await (const { type } of reader.events('main', { from: 'earliest' })) {
      if (type !== 'message_end') continue;
      // While the first is still followed.
      for await (const event of reader.events('notes', { from: 'earliest' }))
        if (event.type === 'message_end') break;
      break;
    }
    expect(asked.filter((call) => call === 'POST /subscribe')).to.have.length.above(0);
  });
});
