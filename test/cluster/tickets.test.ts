import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { type Node, startNodes } from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { openStream, type RawStream } from '../support/sse-client.js';
import { as, byName } from '../support/users.js';

const app = defineApp({
  async *run() {
    yield 'done';
  },
});

async function ticketOf({ url }: Node, user = 'alice'): Promise<string> {
  const { status, body } = await post(`${url}/ticket`, {}, as(user));
  expect(status).to.equal(200);
  return body.ticket;
}

const open = (
  { url }: Node,
  ticket: string,
  sessions = ['main'],
  lastEventId?: string,
): Promise<RawStream> => {
  const query = new URLSearchParams([['token', ticket], ...sessions.map((id) => ['sessionId', id])]);
  if (lastEventId !== undefined) query.set('lastEventId', lastEventId);
  return openStream(`${url}/events?${query}`);
};

/** A stream that was let in, with the id of its last event. */
async function connected(opening: Promise<RawStream>): Promise<{ stream: RawStream; id: string }> {
  const stream = await opening;
  expect(stream.response.status).to.equal(200);
  const { id } = await stream.until(({ event, id: at }) => event === 'heartbeat' && at !== undefined);
  return { stream, id: id! };
}

async function refused(opening: Promise<RawStream>): Promise<void> {
  expect((await opening).response.status).to.equal(401);
}

describe('tickets of gateways that share a store', () => {
  const begun = async (nodes: readonly Node[], names = ['main']): Promise<void> => {
    for (const name of names) await nodes[0]!.client.send(name, 'hello').result;
  };

  it('are opened at another gateway than the one that issued them, once', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName });
    await begun(nodes);
    const ticket = await ticketOf(nodes[0]!);
    await connected(open(nodes[1]!, ticket));
    await refused(open(nodes[2]!, ticket));
    await refused(open(nodes[0]!, ticket));
    await refused(open(nodes[0]!, `tkt_${'x'.repeat(43)}`));
  });

  it('serve the reconnects of their stream at any of them, one at a time', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName });
    await begun(nodes);
    const ticket = await ticketOf(nodes[0]!);
    const first = await connected(open(nodes[1]!, ticket));
    const second = await connected(open(nodes[2]!, ticket, ['main'], first.id));
    await first.stream.ended;
    await connected(open(nodes[0]!, ticket, ['main'], second.id));
    await second.stream.ended;
  });

  it('resume what their stream followed, also what was added elsewhere, and nothing else', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName });
    await begun(nodes, ['main', 'notes', 'later', 'other']);
    const ticket = await ticketOf(nodes[0]!);
    const { stream } = await connected(open(nodes[1]!, ticket, ['main', 'notes']));
    const { data } = await stream.until(({ event }) => event === 'connected');
    const change = { connectionId: data.connectionId, add: ['later'] };
    expect((await post(`${nodes[2]!.url}/subscribe`, change, as('alice'))).status).to.equal(200);
    const { id } = stream.events.findLast((event) => event.id !== undefined)!;
    await refused(open(nodes[0]!, ticket, ['main', 'other'], id));
    await connected(open(nodes[2]!, ticket, ['main', 'notes', 'later'], id));
    await stream.ended;
  });

  it('are worthless everywhere once their holder is withdrawn at one, whose streams end at all', async () => {
    const nodes = await startNodes(new MemoryHub(), { app, auth: byName }, 2);
    await begun(nodes);
    await nodes[0]!.clientOf('bob').send('main', 'hello').result;
    const [alice, bob] = [await ticketOf(nodes[0]!), await ticketOf(nodes[0]!, 'bob')];
    const { stream, id } = await connected(open(nodes[1]!, alice));
    nodes[0]!.gateway.disconnect({ userId: 'alice' });
    await stream.ended;
    await refused(open(nodes[1]!, alice, ['main'], id));
    await connected(open(nodes[1]!, bob));
  });

  it('are asked about with what their holder showed, which the store cannot tell', async () => {
    const hub = new MemoryHub();
    let good = true;
    const secret = 'alice-and-her-secret';
    const auth = {
      type: 'custom' as const,
      cookies: false,
      validate: async (token: string | undefined) => ({
        valid: good && token === secret,
        user: { id: 'alice' },
      }),
    };
    const kept: string[] = [];
    const recording = (store: Store): Store => {
      const changeRecords: Store['changeRecords'] = (home, changes, options) => {
        kept.push(JSON.stringify(changes));
        return store.changeRecords(home, changes, options);
      };
      return overriding(store, { changeRecords });
    };
    const nodes = await startNodes(hub, { app, auth, store: recording }, 2);
    await nodes[0]!.clientOf(secret).send('main', 'hello').result;
    const [first, second] = [await ticketOf(nodes[0]!, secret), await ticketOf(nodes[0]!, secret)];
    await connected(open(nodes[1]!, first));
    good = false;
    await refused(open(nodes[1]!, second));
    expect(kept.length).to.be.at.least(4);
    const plain = kept.map((text) => text + Buffer.from(text, 'base64').toString('latin1')).join('\n');
    for (const told of [secret, first, second, 'userKey']) expect(plain).to.not.include(told);
  });
});
