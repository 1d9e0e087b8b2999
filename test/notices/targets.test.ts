import { expect } from 'chai';
import { clientInbox } from '../../client/inbox/index.js';
import type { NotifyOptions } from '../../server/features/notices/index.js';
import { defineApp } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { partsOfId } from '../../shared/composed-id.js';
import { TestClock } from '../schedules/test-clock.js';
import { collect, connectClient, failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { MemoryHub } from '../support/memory-hub.js';
import { overriding } from '../support/overriding.js';
import { until } from '../support/until.js';
import { asker, begin } from './begin.js';
import { Receiver, SECRET } from './receiver.js';
import { counted } from './seen.js';

/** A gateway that takes what is due only while it is allowed to, and sees due records this much earlier. */
async function taking(inner: Store, notify: NotifyOptions) {
  const due = { isTaken: true, aheadMs: 0, records: [] as string[] };
  const store = overriding(inner, {
    takeDue: async ({ limit }) => {
      if (!due.isTaken) return { records: [], nextAt: null, now: Date.now() };
      const taken = await inner.takeDue({ limit, leaseMs: 15_000, aheadMs: due.aheadMs });
      due.records.push(...taken.records.map(({ kind }) => kind));
      return taken;
    },
  });
  const { gateway, url, log } = await startGateway({
    app: asker,
    store,
    notify: { unseenMs: 0, allowPrivate: true, ...notify },
  });
  return { gateway, log, due, client: connectClient(url) };
}

const webhooks = (url: string) => ({ webhooks: { url, secrets: SECRET, name: 'new' } });

describe('targets of notices', () => {
  for (const [made, by] of [
    ['a webhook', 'deliver'],
    ['deliver', 'a webhook'],
  ] as const)
    it(`are those of the gateway where the notice was made: ${made}, taken by a gateway that has ${by}`, async () => {
      const hub = new MemoryHub();
      const receiver = await Receiver.start();
      const delivered: string[] = [];
      const [hook, own] = [webhooks(receiver.url), { deliver: () => void delivered.push('own') }];
      const maker = await taking(hub.node().store, made === 'deliver' ? own : hook);
      const taker = await taking(hub.node().store, made === 'deliver' ? hook : own);
      maker.due.isTaken = false;
      for (let i = 0; i < 5; i++) await maker.client.send(`s${i}`, 'hi').result;
      // It looks at once, splits all notices, and comes to each delivery.
      await taker.client.send('own', 'hi').result;
      await until(() => taker.due.records.filter((kind) => kind === 'delivery').length >= 6);
      taker.due.isTaken = false;
      Object.assign(maker.due, { isTaken: true, aheadMs: 60_000 });
      // It looks for what is due at once.
      await maker.client.send('s5', 'hi').result;
      await until(() => counted(maker.gateway, 'told') === 6);
      const [told, others] = [receiver.all, delivered];
      expect(made === 'deliver' ? [others.length, told.length] : [told.length, others.length]).to.deep.equal([
        6, 1,
      ]);
      await until(() => counted(taker.gateway, 'told') === 1);
      expect(counted(taker.gateway, 'failed', 'dead')).to.equal(0);
      expect(counted(maker.gateway, 'failed', 'dead')).to.equal(0);
      expect(await collect(maker.gateway.failedNotices())).to.deep.equal([]);
    });

  it('that no gateway has any more are given up after a day, listed, and told when one has them again', async () => {
    const hub = new MemoryHub();
    const receiver = await Receiver.start();
    const gone = await taking(hub.node().store, webhooks(receiver.url));
    const left = await taking(hub.node().store, { deliver: () => {} });
    gone.due.isTaken = false;
    await gone.client.send('main', 'hi').result;
    await left.client.send('other', 'hi').result;
    await until(() => left.due.records.filter((kind) => kind === 'delivery').length === 2);
    expect(await collect(left.gateway.failedNotices())).to.deep.equal([]);
    left.due.aheadMs = 25 * 3_600_000;
    await left.client.send('other', 'hi').result;
    await until(() => counted(left.gateway, 'dead') === 1);
    const [dead] = await collect(left.gateway.failedNotices({ dead: true }));
    expect(dead).to.include({ target: 'webhook:new', dead: true, attempts: 1 });
    expect(dead!.error).to.include('no gateway has webhook:new');
    left.due.isTaken = false;
    Object.assign(gone.due, { isTaken: true, aheadMs: left.due.aheadMs });
    expect(await gone.gateway.resendNotice(dead!.id)).to.equal(1);
    await receiver.until((all) => all.length === 1);
  });

  it('that no gateway has have another day where an operator sends again what was given up', async () => {
    const hub = new MemoryHub();
    const { gateway, client, due } = await taking(hub.node().store, { deliver: () => {} });
    await client.send('main', 'hi').result;
    const home = { scope: '[null,"token"]', app: 'default', name: 'main' };
    const target = 'webhook:new';
    const notice = { id: 'custom:x:old', kind: 'custom', sessionId: 'main', app: 'default', at: 1 };
    const kept = { notice, target, to: home.scope, owedAt: Date.now() - 25 * 3_600_000 };
    const { store } = hub.node();
    const owed = { kind: 'delivery', id: `${target}|old`, dueAt: Date.now(), value: JSON.stringify(kept) };
    await store.changeRecords(home, [owed]);
    await client.send('other', 'hi').result;
    await until(() => counted(gateway, 'dead') === 1);
    const taken = due.records.length;
    expect(await gateway.resendNotice(notice.id)).to.equal(1);
    await until(() => due.records.slice(taken).includes('delivery'));
    await until(async () => (await store.records({ home, kind: 'delivery', limit: 9 })).length === 1);
    expect(await collect(gateway.failedNotices())).to.deep.equal([]);
    expect(counted(gateway, 'dead')).to.equal(1);
  });
});

describe('a notice whose id is taken', () => {
  it('is told to all who are not still owed the first', async () => {
    const receiver = await Receiver.start();
    const tried: (string | undefined)[] = [];
    const { client, gateway } = await begin(receiver.url, {
      on: ['hand_off'],
      deliver: ({ title }) => {
        tried.push(title);
        throw new Error('mail is down');
      },
    });
    await client.send('main', 'hi').result;
    const session = gateway.session('main', { user: { id: 'token' } });
    await session.notify({ id: 'invoice', title: 'first' });
    await until(() => counted(gateway, 'failed') === 1 && counted(gateway, 'told') === 1);
    await session.notify({ id: 'invoice', title: 'second' });
    await until(() => counted(gateway, 'told') === 2);
    expect(receiver.told.map(({ title }) => title)).to.deep.equal(['first', 'second']);
    expect(tried).to.deep.equal(['first']);
    const owed = await collect(gateway.failedNotices());
    expect(owed.map(({ notice }) => notice.title)).to.deep.equal(['first']);
  });

  it('holds up no question that is asked again under one call id', async () => {
    const receiver = await Receiver.start();
    const { client, gateway } = await begin(
      receiver.url,
      {
        webhooks: { url: receiver.url, secrets: SECRET, content: true },
        on: ['input_required'],
        deliver: () => {
          throw new Error('mail is down');
        },
      },
      {
        app: defineApp({
          run: async (turn) => {
            for (const name of ['one', 'two']) await turn.confirm({ name, input: {}, callId: 'call_0' });
            return 'done';
          },
        }),
      },
    );
    const run = client.send('main', 'go');
    await until(() => counted(gateway, 'failed') === 1 && counted(gateway, 'told') === 1);
    await client.session('main').respond('call_0', { approved: true });
    await until(() => counted(gateway, 'told') === 2);
    expect(receiver.told.map(({ text }) => text)).to.deep.equal(['one', 'two']);
    await client.session('main').respond('call_0', { approved: true });
    await run.result;
  });
});

describe('a notice that cannot be split', () => {
  it('is tried as often as a delivery, then given up and logged', async () => {
    const clock = new TestClock();
    const store = overriding(clock.store, {
      changeRecords: (home, changes, options) => {
        if (changes.some(({ kind, value }) => kind === 'delivery' && value !== undefined)) return false;
        return clock.store.changeRecords(home, changes, options);
      },
    });
    const { gateway, url, log } = await startGateway({
      ...{ app: asker, store, notify: { unseenMs: 0, deliver: () => {} } },
    });
    const client = connectClient(url);
    const { runId } = await client.send('main', 'hi').result;
    for (let attempts = 1; attempts < 10; attempts++) {
      await until(async () => (await clientInbox(client).notices('main'))[0]?.attempts === attempts);
      const [{ nextAt = 0 } = {}] = await clientInbox(client).notices('main');
      clock.forward(nextAt - clock.now() + 1);
      // It looks for what is due at once.
      await client.send('other', 'hi').result;
    }
    await until(async () => (await clientInbox(client).notices('main')).length === 0);
    expect(counted(gateway, 'dead')).to.be.above(0);
    expect(log.lines.map(({ message }) => message)).to.include(`the notice run_ended~${runId} was given up`);
  });
});

describe('ids of notices', () => {
  it('have at most 256 bytes, of whole characters', async () => {
    const receiver = await Receiver.start();
    const { client, gateway } = await begin(receiver.url, { on: ['hand_off'] });
    await client.send('main', 'hi').result;
    const session = gateway.session('main', { user: { id: 'token' } });
    for (const id of ['x'.repeat(257), 'half \ud83d', '', 7 as never]) {
      const refused = await failure(session.notify({ id, title: 'x' }));
      expect(refused, String(id).slice(0, 9)).to.containSubset({
        ...{ code: 'INVALID_PARAMS', details: [{ path: 'id' }] },
      });
    }
    // The longest ones: they go into a header, and are keys of stores.
    for (const id of ['é€😀'.repeat(28), '%~.:|'.repeat(51)]) {
      const given = await session.notify({ id, title: 'x' });
      // Between dots it is signed.
      expect(given.id)
        .to.match(/^[!-~]{1,120}$/)
        .and.not.to.include('.');
      expect(given.id).to.match(/^custom~/);
      expect(await session.notify({ id, title: 'x' })).to.deep.equal(given);
      await receiver.until((all) => all.some((received) => received.id === given.id));
    }
  });

  it('come of whatever call ids apps make', async () => {
    const receiver = await Receiver.start();
    const ids = ['z%.|:~', 'call.1', '😀'.repeat(64), 'y'.repeat(256)];
    const { client, log } = await begin(
      receiver.url,
      {},
      {
        app: defineApp({
          run: async (turn) => {
            for (const callId of ids) await turn.confirm({ name: 'sure', input: {}, callId });
            return 'done';
          },
        }),
      },
    );
    client.send('main', 'go').result.catch(() => {});
    for (let i = 1; i <= ids.length; i++) {
      await receiver.until(({ length }) => length === i);
      await client.session('main').respond(receiver.told[i - 1]!.callId!, { approved: true });
    }
    expect(new Set(receiver.all.map(({ id }) => id)).size).to.equal(ids.length);
    const { runId } = receiver.told[0]!;
    for (const [i, callId] of ids.slice(0, 2).entries())
      expect(partsOfId(receiver.told[i]!.id)).to.deep.equal(['input_required', runId, callId]);
    expect(log.lines.filter(({ message }) => message.includes('making records of events'))).to.deep.equal([]);
  });
});
