import { expect } from 'chai';
import type { Client } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { textOf } from '../../shared/messages.js';
import { connectClient, takeUntil } from '../support/client.js';
import { type Gate, gate } from '../support/gate.js';
import { type HeldStore, heldStore } from '../support/held-store.js';
import { MemoryHub } from '../support/memory-hub.js';
import {
  echo,
  type Node,
  sides,
  startBusy,
  startNode,
  startNodes,
  stateOf,
  waiting,
} from '../support/nodes.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';
import { armed, typeIs } from './armed-store.js';

/** Where a node stands in the session `main`. */
const cursorOf = async ({ client }: Node): Promise<string> => (await client.session('main').state()).cursor!;

/** A client that has not been there before. */
const another = ({ url }: Node): Client => connectClient(url);

/** Gateways behind one message, of which the one that holds the session hears no more. */
async function startLagging() {
  const hub = new MemoryHub();
  const nodes = await startNodes(hub, { app: echo });
  await nodes[0]!.client.send('main', 'one').result;
  const both = sides(hub, nodes);
  both.holder.node.freeze();
  return both;
}

describe('a gateway whose view of a session lags', () => {
  it('tells nobody of a gap who has seen more elsewhere', async () => {
    const { holder, other } = await startLagging();
    await other.client.send('main', 'two').result;
    const cursor = await cursorOf(other);
    holder.node.thaw(false);
    const events = another(holder).events('main', { from: cursor });
    const seen = takeUntil(events, typeIs('message_end'));
    await other.client.send('main', 'three').result;
    expect((await seen).map(({ type }) => type)).to.not.include('gap');
  });

  it('tells nobody of a gap who has seen a later conversation elsewhere', async () => {
    const { holder, other } = await startLagging();
    await other.client.session('main').close();
    await other.client.send('main', 'two').result;
    const cursor = await cursorOf(other);
    holder.node.thaw(false);
    const seen = takeUntil(another(holder).events('main', { from: cursor }), typeIs('message_end'));
    await other.client.send('main', 'three').result;
    expect((await seen).map(({ type }) => type)).to.not.include('gap');
  });

  it('tells nobody of a gap who has read elsewhere what it has just written', async () => {
    const hub = new MemoryHub();
    let answers: Gate | null = null;
    let looks = 0;
    // The store has what it was given, and others read it, before its answer is there.
    const store = (own: Store): Store =>
      overriding(own, {
        append: async (...args) => {
          const appended = await own.append(...args);
          await answers?.passed;
          return appended;
        },
        head: (...args) => {
          looks += 1;
          return own.head(...args);
        },
      });
    const first = await startNode(hub, { app: echo, store, limits: { storeMs: 60_000 } });
    const other = await startNode(hub, { app: echo });
    await first.client.send('main', 'one').result;
    const elsewhere = other.client.events('main', { from: 'earliest' });
    answers = gate();
    const updated = first.client.session('main').update({ title: 'one' });
    const { cursor } = (await takeUntil(elsewhere, typeIs('session_updated'))).at(-1)!;
    looks = 0;
    const events = another(first).events('main', { from: cursor! });
    const seen = takeUntil(events, typeIs('session_updated'));
    await until(() => looks > 0);
    answers.open();
    await updated;
    await first.client.session('main').update({ title: 'two' });
    expect((await seen).map(({ type }) => type)).to.deep.equal(['session_updated']);
  });

  it('asks the store before it refuses what it knows nothing of, and passes it on', async () => {
    const hub = new MemoryHub();
    const app = defineApp({
      async *run(turn) {
        if (turn.text === 'ask') yield String(await turn.ask({ name: 'permission' }));
      },
    });
    const nodes = await startNodes(hub, { app }, 2);
    await nodes[0]!.client.send('main', 'one').result;
    const { holder, other } = sides(hub, nodes);
    holder.node.freeze();
    const events = other.client.events('main');
    const asking = takeUntil(events, typeIs('input_required'));
    const run = other.client.send('main', 'ask');
    const { callId } = (await asking).at(-1) as { callId: string };
    // It holds the session, as far as it knows.
    holder.node.thaw(false);
    await holder.client.session('main').respond(callId, { output: 'yes' });
    expect(textOf((await run.result).message)).to.equal('yes');
    const next = other.client.send('main', 'ask');
    const { runId } = await next.accepted;
    expect(await holder.client.session('main').abort({ runId })).to.deep.equal({ aborted: true });
  });

  it('tells of a gap once where the log is cut again while it is folded for that', async () => {
    const hub = new MemoryHub();
    const limits = { retention: { events: 5 } };
    const first = await startNode(hub, { app: echo, limits });
    const [asked, answered] = [gate(), gate()];
    const store = (own: Store): Store =>
      overriding(own, {
        checkpoint: async (log) => {
          asked.open();
          await answered.passed;
          return own.checkpoint(log);
        },
        // It hears of nothing meanwhile.
        watch: () => () => {},
      });
    const other = await startNode(hub, { app: echo, store, limits: { storeMs: 60_000 } });
    await first.client.send('main', 'one').result;
    const cursor = await cursorOf(first);
    const updates = async (title: string): Promise<void> => {
      for (let n = 0; n < 20; n++) await first.client.session('main').update({ title, metadata: { n } });
    };
    await updates('first');
    const seen = takeUntil(other.client.events('main', { from: cursor }), typeIs('snapshot'));
    await asked.passed;
    await updates('second');
    answered.open();
    const [gap, snapshot] = await seen;
    expect(gap).to.include({ type: 'gap', reason: 'evicted' });
    expect(snapshot).to.have.nested.property('state.title', 'second');
    expect(other.log.lines).to.deep.equal([]);
  });

  it('goes on with those who follow it where an earlier look is answered later', async () => {
    const hub = new MemoryHub();
    const { app, letGo } = waiting();
    let held!: HeldStore;
    const holder = await startNode(hub, {
      app,
      store: (own) => {
        held = heldStore(own);
        return held.store;
      },
    });
    const [asked, answered] = [gate(), gate()];
    const { fates, store } = armed();
    const late = (own: Store): Store => {
      const inner = store(own);
      return overriding(inner, {
        async checkpoint(log) {
          if (!fates.checkpoint) {
            fates.checkpoint = [];
            asked.open();
            await answered.passed;
          }
          return inner.checkpoint(log);
        },
      });
    };
    const other = await startNode(hub, { app, store: late, limits: { storeMs: 60_000 } });
    // It has begun, and there is nothing in it yet.
    const begun = held.hold();
    const run = holder.client.send('main', 'wait');
    await begun;
    const first = another(other).session('main').state();
    await asked.passed;
    held.release();
    await run.accepted;
    const events = another(other).events('main', { from: 'earliest' });
    await takeUntil(events, typeIs('content_delta'));
    answered.open();
    await first.catch(() => {});
    const seen = takeUntil(events, typeIs('message_end'));
    letGo();
    expect((await seen).at(-1)).to.include({ stopReason: 'end' });
  });

  it('is told that it lost a session that another one takes only once it is well again', async () => {
    const hub = new MemoryHub();
    const { app } = waiting();
    const first = await startNode(hub, { app });
    await first.client.send('main', 'hello').result;
    const events = first.client.events('main', { from: 'earliest' });
    await takeUntil(events, typeIs('message_end'));
    const [comes, mayTake] = [gate(), gate()];
    const store = (own: Store): Store =>
      overriding(own, {
        acquire: async (ref, options) => {
          if (options.from !== undefined) {
            comes.open();
            await mayTake.passed;
          }
          return own.acquire(ref, options);
        },
      });
    const other = await startNode(hub, { app, store });
    first.node.freeze();
    const answer = other.client.send('main', 'next').result;
    await comes.passed;
    first.node.thaw();
    expect((await first.client.session('main').state()).messages).to.have.length(2);
    mayTake.open();
    await answer;
    await takeUntil(events, typeIs('message_end'));
    expect((await first.client.session('main').state()).messages).to.have.length(4);
  });

  it('shows those who follow it there, on the same connection, what another one writes that took it', async () => {
    const { holder, other } = await startBusy();
    const states: string[] = [];
    const events = holder.client.events('main', { from: 'earliest' });
    await takeUntil(events, typeIs('message_start'));
    holder.client.on('state', (state) => states.push(state));
    holder.node.freeze();
    await other.client.send('main', 'next').result;
    holder.node.thaw();
    const ends: string[] = [];
    const rest = await takeUntil(events, (event) => {
      if (event.type === 'message_end') ends.push(event.stopReason);
      return ends.length === 2;
    });
    expect(rest.map(({ type }) => type)).to.not.include('gap');
    expect(states).to.deep.equal([]);
  });
});

describe('a run that is ended while the store does not say whether it was accepted', () => {
  it('does not begin, and says nothing', async () => {
    const hub = new MemoryHub();
    const { fates, store } = armed();
    const { app, calls } = waiting();
    const first = await startNode(hub, { app, store });
    const other = await startNode(hub, { app });
    await first.client.send('main', 'hello').result;
    fates.append = ['lose', 'lose'];
    const run = first.client.send('main', 'never');
    await stateOf(other, (state) => state.run !== null);
    expect(await other.client.session('main').abort()).to.deep.equal({ aborted: true });
    expect((await run.result).stopReason).to.equal('aborted');
    expect(fates.append).to.deep.equal([]);
    await first.client.send('main', 'next').result;
    expect(calls).to.deep.equal(['hello', 'next']);
    const { runId } = await run.accepted;
    const told = hub.eventsOf('main').filter((event) => 'runId' in event && event.runId === runId);
    expect(told.map(({ type }) => type)).to.deep.equal(['message_accepted', 'message_start', 'message_end']);
  });
});

describe('a store that forgets the last moments of a session whose holder died', () => {
  it('costs those who had seen them a gap, at every gateway', async () => {
    const hub = new MemoryHub();
    const { app } = waiting();
    const nodes = await startNodes(hub, { app });
    const run = nodes[0]!.client.send('main', 'wait');
    run.result.catch(() => {});
    await run.accepted;
    const followed = nodes.slice(1).map(({ client }) => client.events('main', { from: 'earliest' }));
    // One is behind when it hears of what came instead.
    for (const events of followed) await takeUntil(events, typeIs('content_delta'));
    const [, taker, late] = nodes;
    late!.node.cut();
    nodes[0]!.node.kill();
    expect(hub.forget('main', 1)).to.equal(1);
    await until(() => hub.holderOf('main') === taker!.node.holder);
    await taker!.client.send('main', 'next').result;
    late!.node.reconnect();
    const state = await taker!.client.session('main').state();
    for (const events of followed) {
      const rest = await takeUntil(events, typeIs('snapshot'));
      expect(rest.map(({ type }) => type)).to.deep.equal(['gap', 'snapshot']);
      expect(rest[0]).to.have.property('reason').that.is.oneOf(['truncated', 'ahead']);
    }
    expect(await late!.client.session('main').state()).to.deep.equal(state);
  });
});
