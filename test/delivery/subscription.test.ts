import { expect } from 'chai';
import fc from 'fast-check';
import { EventConnection } from '../../server/delivery/connection.js';
import type { Outlet } from '../../server/delivery/outlet.js';
import { type Subscribable, Subscription } from '../../server/delivery/subscription.js';
import { objectForm } from '../../server/delivery/wire-form.js';
import type { LogBatch } from '../../server/log/batch.js';
import { LogView } from '../../server/log/log-view.js';
import { LogWriter } from '../../server/log/log-writer.js';
import { Moderation } from '../../server/log/moderation.js';
import type { GatewayEvent } from '../../shared/events.js';
import { newTestEpoch, refOf, TestWriter } from '../../testing/stores/records.js';
import { gate } from '../support/gate.js';
import { closeLater } from '../support/resources.js';
import { SessionView } from '../support/session-view.js';
import { casesOn, STORES, type StoreKind, WILLING_STORES } from '../support/stores.js';
import { testStore } from '../support/test-store.js';

/** A reader that can stop reading, and holds its gateway to order and gaps. */
class TestOutlet implements Outlet {
  readonly form = objectForm;
  readonly view: SessionView;
  writable = true;
  closed = false;
  /** Events that came although the reader was blocked, or its place given to another. */
  unwanted = 0;

  constructor(place: 'earliest' | 'open') {
    this.view = new SessionView('main', { place });
  }

  write(payload: unknown): void {
    for (const { type, ...data } of payload as readonly GatewayEvent[]) {
      if (this.closed || !this.writable) this.unwanted += 1;
      this.view.take({ event: type, data });
    }
  }

  moved(): void {}

  gap(): void {}

  interrupt(): void {
    throw new Error('interrupted');
  }

  report(error: unknown): void {
    throw error;
  }
}

/** A real log on a real store, whose wakes the test passes on as it likes. */
async function setUp(on: StoreKind, retained: number) {
  const model = testStore(on);
  await model.store.open();
  closeLater(model.store, (it) => it.close());
  const { acquired, log: ref } = await TestWriter.acquire(model.store, refOf('main'), {
    epoch: newTestEpoch(),
  });
  const batches: LogBatch[] = [];
  const view = new LogView(model.store, ref, acquired.head);
  const log = await LogWriter.open(model.store, view, acquired.head.term, {
    retention: { events: retained, bytes: 1e9, ageMs: 1e9 },
    now: Date.now,
    moderation: new Moderation(0),
    listener: {
      committed: (batch) => batches.push(batch),
      broken: (error) => {
        throw error;
      },
      refused() {},
      rejected() {},
      unavailable: (error) => {
        throw error;
      },
    },
  });
  const attached = new Set<Subscription>();
  const session: Subscribable = {
    id: 'main',
    log: view,
    runStart: null,
    openings: 1,
    pastLog: async () => null,
    lastLog: async () => null,
    nextLog: async () => null,
    refresh: () => null,
    attach: (subscription) => attached.add(subscription),
    detach: (subscription) => attached.delete(subscription),
    describe: () => ({ status: 'idle', queued: 0 }),
  };
  return { model, log, view, session, batches, attached };
}

const which = fc.nat(3);
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 30 }) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('attach' as const),
      from: fc.constantFrom('earliest' as const, 'now' as const, 'snapshot' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('wake' as const, 'wake' as const, 'oldWake' as const, 'begin' as const),
      which,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('flip' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), which }) },
);

const turn = (): Promise<void> => new Promise(setImmediate);

for (const on of WILLING_STORES) {
  describe(`a subscription (${on.name})`, () => {
    for (const retained of [10_000, 12]) {
      it(`gets each event once, in order, whatever wakes are lost or doubled, keeping ${retained} events`, async () => {
        let delivered = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.array(command, { minLength: 10, maxLength: 80, size: 'max' }),
            async (commands) => {
              const { model, log, session, batches } = await setUp(on, retained);
              const readers: {
                outlet: TestOutlet;
                subscription: Subscription;
                opened: boolean;
                begun: boolean;
                closed: boolean;
              }[] = [];
              let sent = 0;
              for (const step of commands) {
                const reader =
                  'which' in step ? readers[step.which % Math.max(1, readers.length)] : undefined;
                if (step.kind === 'append') {
                  for (let i = 0; i < step.count; i++)
                    log.append({ type: 'custom', ts: 1, name: 'n', payload: ++sent });
                } else if (step.kind === 'turn') await turn();
                else if (step.kind === 'attach') {
                  const outlet = new TestOutlet(step.from === 'earliest' ? 'earliest' : 'open');
                  const subscription = new Subscription(session, outlet);
                  const entry = { outlet, subscription, opened: false, begun: false, closed: false };
                  readers.push(entry);
                  const info = subscription.open({ from: step.from });
                  Promise.resolve(info).then(() => {
                    entry.opened = true;
                  });
                } else if (reader && step.kind === 'begin') {
                  if (!reader.opened || reader.begun || reader.closed) continue;
                  reader.begun = true;
                  reader.subscription.begin();
                } else if (reader && step.kind === 'close') {
                  reader.closed = true;
                  reader.outlet.closed = true;
                  reader.subscription.close();
                } else if (reader && step.kind === 'flip') reader.outlet.writable = !reader.outlet.writable;
                else if (reader && step.kind === 'wake') {
                  reader.subscription.pump(batches.at(-1));
                  reader.subscription.pump(batches.at(-1));
                } else if (reader) reader.subscription.pump(batches[step.which * 3]);
              }
              await log.settled();
              await turn();
              for (const reader of readers) {
                if (!reader.begun && !reader.closed) reader.subscription.begin();
                reader.outlet.writable = true;
              }
              // What the sweep does every few seconds.
              for (let i = 0; i < 40; i++) {
                for (const { subscription } of readers) subscription.pump();
                await turn();
              }
              const truth = model.eventsOf('main').map((event) => event.cursor!);
              for (const { outlet, closed } of readers) {
                const { cursors, gaps } = outlet.view;
                expect(outlet.unwanted).to.equal(0);
                delivered += cursors.length;
                if (gaps.length === 0) expect(truth.join()).to.include(cursors.join());
                if (retained > 1000) expect(gaps).to.deep.equal([]);
                if (!closed) expect(outlet.view.place?.seq ?? truth.length).to.equal(truth.length);
              }
            },
          ),
          { numRuns: casesOn(on, 150) },
        );
        expect(delivered).to.be.greaterThan(100);
      });
    }
  });
}

describe('a connection', () => {
  it('heals lost wakes within five seconds of its own clock, and has nothing left to wake afterwards', async () => {
    const { log, session, attached } = await setUp(STORES[0]!, 1000);
    const written: GatewayEvent[] = [];
    const connection = new EventConnection(
      {
        id: 'conn_1',
        transport: 'test',
        person: { user: { id: 'u' }, scope: 's', userKey: 'u' } as never,
        form: objectForm,
        sink: {
          write: (payload) => written.push(...(payload as GatewayEvent[])) > 0,
          unread: () => 0,
          sent: () => 0,
          end: () => {},
        },
        heartbeatMs: 60_000,
        slowClientMs: 60_000,
        client: true,
      },
      () => {},
      (error) => {
        throw error;
      },
    );
    const { begin } = await connection.follow(session, { from: 'earliest' });
    begin();
    for (let i = 0; i < 3; i++) log.append({ type: 'custom', ts: 1, name: 'n', payload: i });
    await log.settled();
    expect(written).to.deep.equal([]);
    connection.tick(performance.now() + 4000);
    expect(written, 'not yet').to.deep.equal([]);
    connection.tick(performance.now() + 5001);
    expect(written.map((event) => event.type === 'custom' && event.payload)).to.deep.equal([0, 1, 2]);
    connection.gone();
    expect(attached.size).to.equal(0);
  });

  it('lets nothing come between a gap and its snapshot, also when it is woken by what it writes', async () => {
    const { log, session, model } = await setUp(STORES[0]!, 10_000);
    for (let i = 0; i < 5; i++) log.append({ type: 'custom', ts: 1, name: 'n', payload: i });
    await log.settled();
    const types: string[] = [];
    const outlet: Outlet = {
      ...{ form: objectForm, writable: true, moved: () => {}, gap: () => {}, interrupt: () => expect.fail() },
      report: (error) => {
        throw error;
      },
      write: (payload) => {
        for (const { type } of payload as readonly GatewayEvent[]) types.push(type);
        subscription.pump();
      },
    };
    const subscription = new Subscription(session, outlet);
    // Of another conversation: the gap leads to the beginning of this one.
    await subscription.open({ cursor: `${newTestEpoch()}.1.3` });
    subscription.begin();
    subscription.close();
    expect(types).to.deep.equal(['gap', 'snapshot', ...model.eventsOf('main').map(({ type }) => type)]);
  });

  it('goes on with a gap when everything it had still to read was cut', async () => {
    for (const on of WILLING_STORES) {
      const { log, view, session, model } = await setUp(on, 10_000);
      const outlet = new TestOutlet('earliest');
      const subscription = new Subscription(session, outlet);
      await subscription.open({ from: 'earliest' });
      subscription.begin();
      outlet.writable = false;
      for (let i = 0; i < 5; i++) log.append({ type: 'custom', ts: 1, name: 'n', payload: i });
      await log.settled();
      // All of them are older than the retention allows.
      await log.expire();
      expect(view.first).to.equal(view.head + 1);
      outlet.writable = true;
      subscription.pump();
      for (let i = 0; i < 5; i++) await turn();
      expect(outlet.view.gaps).to.deep.equal(['evicted']);
      expect(outlet.view.state.cursor).to.equal(model.eventsOf('main').at(-1)?.cursor);
      subscription.close();
    }
  });
});

describe('a subscription to a session that begins while it looks for it', () => {
  it('looks again, though it was woken while it looked', async () => {
    const { log, view, session } = await setUp(WILLING_STORES[0]!, 100);
    const looked = gate();
    let [openings, looks] = [1, 0];
    const absent: Subscribable = {
      ...session,
      log: null,
      get openings() {
        return openings;
      },
      async nextLog(after) {
        looks += 1;
        if (looks > 1) return after === null ? view : null;
        await looked.passed;
        return null;
      },
    };
    const outlet = new TestOutlet('open');
    const subscription = new Subscription(absent, outlet);
    await subscription.open({});
    subscription.begin();
    expect(looks).to.equal(1);
    log.append({ type: 'custom', ts: 1, name: 'n', payload: 1 });
    await log.settled();
    openings = 2;
    subscription.pump();
    looked.open();
    await turn();
    expect(outlet.view.types).to.deep.equal(['custom']);
    subscription.close();
  });
});
