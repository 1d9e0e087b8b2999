import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import type { News } from '../../server/stores/append.js';
import type { Store } from '../../server/stores/store.js';
import type { SessionRef } from '../../server/stores/stored.js';
import { newTestEpoch, record, records, refOf, refusal, TestWriter } from '../../testing/stores/records.js';
import { closeLater } from '../support/resources.js';
import { eventually, left, opens, type SharedStoreUnderTest, sharedPlace } from './shared-place.js';

/** The contract of stores that several gateways use at once, apart from how long their leases are: that is `describeLeases`. */
export function describeSharedStore(
  name: string,
  makeStore: () => SharedStoreUnderTest | Promise<SharedStoreUnderTest>,
): void {
  describe(`shared store contract: ${name}`, () => {
    const { join, hasClock } = sharedPlace(makeStore);

    describe('members', () => {
      it('know one another while they live, and not those who left', async () => {
        const [a, b, c] = [await join(), await join(), await join()];
        expect(await a.membership.members()).to.have.members([a.holder, b.holder, c.holder]);
        await c.membership.leave();
        expect(await a.membership.members()).to.have.members([a.holder, b.holder]);
      });

      it('send messages to one another, each once and in order', async () => {
        const [a, b] = [await join(), await join()];
        const sent = Array.from({ length: 20 }, (_, i) => `${i} "ä😀\n"`);
        for (const message of sent) expect(await a.membership.tell(b.holder, message)).to.equal(true);
        await eventually(() => b.heard.length >= sent.length);
        expect(b.heard).to.deep.equal(sent);
        expect(a.heard).to.deep.equal([]);
        expect(await b.membership.tell(b.holder, 'self')).to.equal(true);
        await eventually(() => b.heard.length > sent.length);
        expect(b.heard.at(-1)).to.equal('self');
      });

      it('are told where nobody listens', async () => {
        const [a, b] = [await join(), await join()];
        expect(await a.membership.tell('gw.never', 'hello')).to.equal(false);
        await b.membership.leave();
        expect(await a.membership.tell(b.holder, 'hello')).to.equal(false);
        expect(b.heard).to.deep.equal([]);
      });
    });

    describe('sessions', () => {
      it('are held by one: the others are told by whom, whatever they would create', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        const owned = { kind: 'owned', holder: a.holder };
        expect(await b.store.acquire(refOf(), { holder: b.holder })).to.deep.equal(owned);
        const create = { epoch: newTestEpoch() };
        expect(await b.store.acquire(refOf(), { holder: b.holder, create })).to.deep.equal(owned);
        expect(await b.store.acquire(refOf(), { holder: b.holder, from: 'gw.other' })).to.deep.equal(owned);
        expect(await writer.append(records(1, 1))).to.include({ first: 1, last: 1 });
        expect(await b.store.read(writer.log, 0, 9, 9999)).to.have.length(1);
      });

      it('can be taken again by their holder, and closed ones be begun by anybody', async () => {
        const [a, b] = [await join(), await join()];
        const first = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        const again = await TestWriter.acquire(a.store, refOf(), null, a.holder);
        expect(again.term).to.be.greaterThan(first.term);
        await again.append([record(1, 'session_closed')], { close: true });
        const anew = await TestWriter.acquire(b.store, refOf(), undefined, b.holder);
        expect(anew.acquired.created).to.equal(true);
        expect((await a.store.acquire(refOf(), { holder: a.holder })).kind).to.equal('owned');
      });

      it('are free once they are released, by the holder of that term alone', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        await a.store.release(refOf(), writer.term - 1);
        expect((await b.store.acquire(refOf(), { holder: b.holder })).kind).to.equal('owned');
        await a.store.release(refOf(), writer.term);
        const next = await TestWriter.acquire(b.store, refOf(), null, b.holder);
        expect(next.term).to.be.greaterThan(writer.term);
        await a.store.release(refOf(), writer.term);
        expect((await a.store.acquire(refOf(), { holder: a.holder })).kind, 'it is not theirs').to.equal(
          'owned',
        );
        expect(await refusal(() => writer.append(records(1, 1)))).to.equal('FENCED');
        expect(await next.append(records(1, 1))).to.include({ first: 1 });
      });

      it('are taken from one who is named, and what that one writes late is refused', async () => {
        const [a, b] = [await join(), await join()];
        const old = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        await old.append([record(1, 'message_accepted')], opens('run_1'));
        const taken = await b.store.acquire(refOf(), { holder: b.holder, from: a.holder });
        expect(taken).to.include({ kind: 'acquired', created: false });
        expect(taken).to.have.nested.property('openRuns[0].runId', 'run_1');
        expect(taken).to.have.nested.property('head.head', 1);
        expect(await refusal(() => old.append(records(2, 2)))).to.equal('FENCED');
        expect((await a.store.acquire(refOf(), { holder: a.holder })).kind).to.equal('owned');
      });

      it('go to one of many who ask at once', async () => {
        const all = [await join(), await join(), await join()];
        const create = { epoch: newTestEpoch() };
        const asked = all.map(({ store, holder }) => store.acquire(refOf(), { holder, create }));
        const answers = await Promise.all(asked);
        expect(answers.filter(({ kind }) => kind === 'acquired')).to.have.length(1);
        expect(answers.filter(({ kind }) => kind === 'owned')).to.have.length(2);
      });

      it('are told to everybody as they are, by whomever they are written', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        const activity = { status: 'waiting', runId: 'run_1', start: 0, queued: 1 } as const;
        const about = { title: 'Told', messageCount: 2, pending: 1, usedAt: Date.now() + 1000 };
        await writer.append([record(1, 'message_accepted')], { ...opens('run_1'), activity, about });
        expect(await b.store.head(refOf())).to.deep.equal(await a.store.head(refOf()));
        expect(await b.store.record(refOf())).to.deep.equal(await a.store.record(refOf()));
        await eventually(async () => (await b.store.list('alice', { limit: 9 })).records.length === 1);
        expect(await b.store.list('alice', { limit: 9 })).to.deep.equal(
          await a.store.list('alice', { limit: 9 }),
        );
        expect(await b.store.run(refOf(), { runId: 'run_1' })).to.include({ runId: 'run_1', accepted: 1 });
        expect(await b.store.count('alice')).to.equal(1);
      });
    });

    it('knows how far the clock of its process is off', async function () {
      const { shared } = await join();
      if (!hasClock()) return this.skip();
      expect(shared.skewMs).to.equal(0);
      const clock = FakeTimers.install({ toFake: ['Date'], now: Date.now() + 600_000 });
      closeLater(clock, (it) => it.uninstall());
      // At once, not by its next question to the store.
      expect(shared.skewMs).to.be.closeTo(-600_000, 60_000);
      clock.uninstall();
      expect(shared.skewMs).to.equal(0);
    });

    describe('what is held', () => {
      it('is listed with its holder, in pages, until it is let go, closed or taken by another', async () => {
        const [a, b] = [await join(), await join()];
        const names = ['s1', 's2', 's3', 's4', 's5'];
        const writers = new Map<string, TestWriter>();
        for (const [i, name] of names.entries()) {
          const { store, holder } = i < 3 ? a : b;
          writers.set(name, await TestWriter.acquire(store, refOf(name, `scope-${i}`), undefined, holder));
        }
        const heldBy = async (holder?: string): Promise<string[]> => {
          const found: string[] = [];
          for (let after: SessionRef | undefined; ; ) {
            const page = await b.shared.held({ limit: 2, after, holder });
            found.push(...page.map((each) => `${each.scope} ${each.app} ${each.name} ${each.holder}`));
            if (page.length < 2) return found.sort();
            after = page.at(-1);
          }
        };
        const lines = (holder: string, ...these: string[]): string[] =>
          these.map((name) => {
            const { scope, app } = writers.get(name)!.log;
            return `${scope} ${app} ${name} ${holder}`;
          });
        expect(await heldBy(a.holder)).to.deep.equal(lines(a.holder, 's1', 's2', 's3'));
        expect(await heldBy()).to.deep.equal([
          ...lines(a.holder, 's1', 's2', 's3'),
          ...lines(b.holder, 's4', 's5'),
        ]);
        const [first, second, third] = [...writers.values()];
        await a.store.release(first!.log, first!.term);
        await second!.append([record(1, 'session_closed')], { close: true });
        await third!.append([record(1, 'session_closed')], { erase: newTestEpoch() });
        expect(await heldBy(a.holder)).to.deep.equal([]);
        await a.store.acquire(refOf('s4', 'scope-3'), { holder: a.holder, from: b.holder });
        expect(await heldBy()).to.deep.equal([...lines(a.holder, 's4'), ...lines(b.holder, 's5')]);
        expect(await heldBy('gw.never')).to.deep.equal([]);
      });
    });

    describe('what is unfinished', () => {
      it('is what was let go, until somebody has it or has ended it', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(b.store, refOf(), undefined, b.holder);
        await writer.append([record(1, 'message_accepted')], opens('run_1'));
        await b.store.release(refOf(), writer.term);
        const free = [{ ...refOf(), from: '' }];
        expect(await left(a)).to.deep.equal(free);
        expect(await left(b)).to.deep.equal(free);
        const next = await TestWriter.acquire(a.store, refOf(), null, a.holder);
        expect(await left(b)).to.deep.equal([]);
        await next.append([record(2, 'session_closed')], { close: true });
        await a.store.release(refOf(), next.term);
        expect(await left(b)).to.deep.equal([]);
      });
    });

    describe('watching', () => {
      /** Counts wakes from now on. */
      function watch(store: Store, heard?: (news?: News) => void) {
        const seen = { wakes: 0, stop: () => {} };
        seen.stop = store.watch(refOf(), (news) => {
          seen.wakes += 1;
          heard?.(news);
        });
        return seen;
      }

      /** Watches, and waits until the store hears of others: it wakes then. */
      async function watching(store: Store, heard?: (news?: News) => void) {
        const seen = watch(store, heard);
        await eventually(() => seen.wakes > 0);
        return seen;
      }

      it('wakes those who watch elsewhere after each append, when it can be read', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        let head = 0;
        const stop = b.store.watch(refOf(), async () => {
          head = Math.max(head, (await b.store.head(refOf()))?.head ?? 0);
        });
        for (let i = 1; i <= 5; i++) {
          await writer.append(records(i, i));
          await eventually(() => head === i);
        }
        stop();
      });

      it('tells with the news a batch that changed the log alone, as it is read, and of others that there is one', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        const heard: (News | undefined)[] = [];
        const { stop } = await watching(b.store, (news) => heard.push(news));
        const pieces = [record(1), { ...record(2), body: JSON.stringify({ delta: 'é\n\t"\u2028 😀' }) }];
        await writer.append(pieces);
        const told = (): readonly (News | undefined)[] => heard.filter((news) => news !== undefined);
        await eventually(() => told().length > 0);
        const events = await b.store.read(writer.log, 0, 9, 9999);
        expect(told()).to.deep.equal([{ epoch: writer.log.epoch, events }]);
        for (const more of [
          { activity: { status: 'running', runId: 'r1', queued: 0 } as const, delta: 'x' },
          { delta: 'longer than some stores have room for '.repeat(5000) },
        ]) {
          const { length } = heard;
          const { delta, ...options } = more;
          await writer.append([{ ...record(3), body: JSON.stringify({ delta }) }], options);
          await eventually(() => heard.length > length);
          if (options.activity) expect(told()).to.have.length(1);
        }
        stop();
      });

      it('wakes before a session has begun, across its epochs, and no more once it is stopped', async () => {
        const [a, b] = [await join(), await join()];
        const seen = await watching(b.store);
        const kept = watch(b.store);
        for (let i = 0; i < 2; i++) {
          const before = seen.wakes;
          const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
          await writer.append([record(1, 'session_closed')], { close: true });
          await eventually(() => seen.wakes > before);
        }
        seen.stop();
        const [stopped, others] = [seen.wakes, kept.wakes];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        await writer.append(records(1, 1));
        await eventually(() => kept.wakes > others);
        expect(seen.wakes).to.equal(stopped);
        kept.stop();
      });

      it('wakes who comes back before it has let go', async () => {
        const [a, b] = [await join(), await join()];
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        const first = await watching(b.store);
        first.stop();
        const seen = watch(b.store);
        // What was let go of is gone by now.
        await b.membership.members();
        await writer.append(records(1, 1));
        const { wakes } = seen;
        await writer.append(records(2, 2));
        await eventually(() => seen.wakes > wakes);
        seen.stop();
      });

      it('wakes after a time in which it heard nothing', async function () {
        const [a, b] = [await join(), await join()];
        if (!b.blink) return this.skip();
        const writer = await TestWriter.acquire(a.store, refOf(), undefined, a.holder);
        let head = 0;
        const stop = b.store.watch(refOf(), async () => {
          head = Math.max(head, (await b.store.head(refOf()))?.head ?? 0);
        });
        await writer.append(records(1, 1));
        await eventually(() => head === 1);
        await b.freeze();
        await writer.append(records(2, 2));
        await b.thaw();
        await eventually(() => head === 2);
        await b.blink();
        await writer.append(records(3, 3));
        await eventually(() => head === 3);
        stop();
      });
    });
  });
}
