import { expect } from 'chai';
import { takeUntil } from '../support/client.js';
import { get, post } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { echo, startNode, startNodes, waiting } from '../support/nodes.js';
import { armed, typeIs } from './armed-store.js';

// Each waits for the second after which a gateway tries again.

describe('a gateway whose view of a session lags', () => {
  it('believes a store in the end that does not have what it had', async () => {
    const hub = new MemoryHub();
    const [first, other] = await startNodes(hub, { app: echo }, 2);
    await first!.client.send('main', 'one').result;
    await first!.client.session('main').update({ title: 'kept' });
    await first!.client.session('main').update({ title: 'lost' });
    // It knows where the log stands, and has read nothing.
    await other!.client.status('main');
    // Nobody writes: who holds the session does not find out.
    expect(hub.forget('main', 1)).to.equal(1);
    const { status } = await get(`${other!.url}/history?sessionId=main`);
    expect(status, 'it may come back').to.equal(503);
    const { title } = await other!.client.session('main').state();
    expect(title).to.equal('kept');
  });

  it('looks again where the store could not be read when it heard of something', async () => {
    const hub = new MemoryHub();
    const { fates, store } = armed();
    const first = await startNode(hub, { app: echo });
    const other = await startNode(hub, { app: echo, store });
    await first.client.send('main', 'one').result;
    const events = other.client.events('main', { from: 'earliest' });
    await takeUntil(events, typeIs('message_end'));
    fates.head = ['refuse'];
    const seen = takeUntil(events, typeIs('session_updated'));
    await first.client.session('main').update({ title: 'Heard' });
    expect((await seen).at(-1)).to.include({ title: 'Heard' });
    expect(fates.head).to.deep.equal([]);
  });

  it('finds out that it lost a session also where the store could not be read at first, and shows the rest', async () => {
    const hub = new MemoryHub();
    const { fates, store } = armed();
    const { app } = waiting();
    const first = await startNode(hub, { app, store });
    const other = await startNode(hub, { app });
    const run = first.client.send('main', 'wait');
    await run.accepted;
    const events = first.client.events('main', { from: 'earliest' });
    await takeUntil(events, typeIs('message_start'));
    first.node.freeze();
    await other.client.send('main', 'next').result;
    fates.head = ['refuse'];
    first.node.thaw();
    const ends: string[] = [];
    const rest = await takeUntil(events, (event) => {
      if (event.type === 'message_end') ends.push(event.stopReason);
      return ends.length === 2;
    });
    expect(ends).to.deep.equal(['lost', 'end']);
    expect(rest.map(({ type }) => type)).to.not.include('gap');
    expect((await run.result).stopReason).to.equal('lost');
  });
});

describe('a store that forgets how a run ended', () => {
  it('is not waited for by those who ask for that run again: it ends once more', async () => {
    const hub = new MemoryHub({ leaseMs: 100 });
    const { app } = waiting();
    const { url } = await startNode(hub, { app });
    const send = async (message: string): Promise<string> => {
      const { body } = await post(`${url}/send`, { sessionId: 'main', message, idempotencyKey: message });
      return body.stopReason;
    };
    expect(await send('hello')).to.equal('end');
    expect(hub.forget('main', 1)).to.equal(1);
    expect(await send('hello')).to.equal('lost');
    expect(await send('next')).to.equal('end');
  });
});
