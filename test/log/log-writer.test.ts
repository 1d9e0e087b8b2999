import { expect } from 'chai';
import fc from 'fast-check';
import { LogView } from '../../server/log/log-view.js';
import { LogWriter } from '../../server/log/log-writer.js';
import type { DueFlush, Moderation } from '../../server/log/moderation.js';
import { StoreError } from '../../server/stores/append.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import type { EventDraft } from '../../shared/events.js';
import { newTestEpoch, refOf } from '../../testing/stores/records.js';
import { cases } from '../support/fuzz.js';
import { type HeldTimers, holdTimers } from '../support/held-timers.js';
import { overriding } from '../support/overriding.js';

/** How a store takes one append: at once, later, or not at all. Of a lost answer only a resend tells whether the batch is there. */
type Fate = 'now' | 'later' | 'refused' | 'refused later' | 'made and unanswered' | 'not made and unanswered';

/** What somebody asks of a writer. Groups of drafts that make nothing, or that are refused by their author, need no write. */
type Deed =
  | 'event'
  | 'piece'
  | 'commit'
  | 'commit that may be refused'
  | 'nothing'
  | 'nothing, decided late'
  | 'refused by its author'
  | 'turn';

const mark = (n: number): EventDraft => ({ type: 'custom', ts: 1, name: 'mark', payload: n });
const turn = (): Promise<void> => new Promise(setImmediate);

/** A store that takes each append as the next fate says, and well once there are none left. */
function fatefulStore(inner: Store, fates: Fate[]): Store {
  const refuse = (code: 'UNAVAILABLE' | 'UNKNOWN'): never => {
    throw new StoreError(code, 'The store is away for a moment');
  };
  return overriding(inner, {
    append: (log, records, options) => {
      const fate = fates.shift() ?? 'now';
      if (fate === 'refused') refuse('UNAVAILABLE');
      if (fate === 'now') return inner.append(log, records, options);
      return turn().then(async () => {
        if (fate === 'refused later') refuse('UNAVAILABLE');
        if (fate === 'not made and unanswered') refuse('UNKNOWN');
        const result = await inner.append(log, records, options);
        return fate === 'made and unanswered' ? refuse('UNKNOWN') : result;
      });
    },
  });
}

/** Has pieces wait for a time, whatever the load is. */
const gathering = (ms: number): Moderation =>
  ({
    joins: ms > 0,
    within(flush: () => void): DueFlush | null {
      if (ms === 0) return null;
      const due: DueFlush = { at: 0, flush };
      setTimeout(() => due.flush?.(), ms);
      return due;
    },
  }) as Moderation;

/** Lets time pass until a writer has nothing on its way; for a minute at most, longer than any of its pauses. */
async function quiet(log: LogWriter, { clock }: HeldTimers): Promise<void> {
  for (let seconds = 0; seconds < 60 && (log.pending || log.stalled); seconds++) {
    clock.tick(1000);
    for (let turns = 0; turns < 5; turns++) await turn();
  }
  expect({ pending: log.pending, stalled: log.stalled }).to.deep.equal({ pending: false, stalled: false });
}

async function openWriter(fates: Fate[], gatherMs: number) {
  const inner = memoryStore();
  await inner.open();
  const ref = { ...refOf('main'), epoch: newTestEpoch() };
  const acquired = await inner.acquire(ref, { create: { epoch: ref.epoch }, holder: 'here' });
  if (acquired.kind !== 'acquired') throw new Error('The session is new');
  const broken: unknown[] = [];
  const delivered: number[] = [];
  const store = fatefulStore(inner, fates);
  const log = await LogWriter.open(store, new LogView(store, ref, acquired.head), acquired.head.term, {
    retention: { events: 1e6, bytes: 1e9, ageMs: 1e9 },
    now: Date.now,
    moderation: gathering(gatherMs),
    listener: {
      committed: ({ events }) => delivered.push(...events.map(({ seq }) => seq)),
      broken: (_term, error) => broken.push(error),
      refused() {},
      rejected() {},
      unavailable() {},
    },
  });
  return { inner, ref, log, broken, delivered };
}

describe('the writer of a log', () => {
  it('goes on where all that waits behind a refused write needs none', async () => {
    const timers = holdTimers();
    const { log } = await openWriter(['refused later'], 0);
    const first = log.commit([mark(1)], { refusable: true });
    const nothing = log.commit(() => []);
    expect(await first.catch(({ code }) => code)).to.equal('OVERLOADED');
    await quiet(log, timers);
    await nothing;
    log.append(mark(2));
    await log.settled();
    expect(log.view.head).to.equal(1);
  });

  it('settles all that is asked of it and flows again, whatever is refused meanwhile', async () => {
    const fates = fc.array(
      fc.constantFrom<Fate>(
        ...(['now', 'later', 'later', 'refused', 'refused later', 'refused later'] as const),
        ...(['made and unanswered', 'not made and unanswered'] as const),
      ),
      { maxLength: 6 },
    );
    const deeds = fc.array(
      fc.constantFrom<Deed>(
        ...(['event', 'piece', 'commit', 'commit that may be refused', 'nothing'] as const),
        ...(['nothing, decided late', 'refused by its author', 'turn'] as const),
      ),
      { minLength: 1, maxLength: 14 },
    );
    const timers = holdTimers();
    const property = fc.asyncProperty(fates, deeds, fc.constantFrom(0, 2), async (given, asked, gatherMs) => {
      const left = [...given];
      const { inner, ref, log, broken, delivered } = await openWriter(left, gatherMs);
      const answered: number[] = [];
      const refused: number[] = [];
      const waits: Promise<unknown>[] = [];
      const follow = (n: number, done: Promise<unknown>): void =>
        void waits.push(
          done.then(
            () => answered.push(n),
            () => refused.push(n),
          ),
        );
      for (const [n, deed] of asked.entries()) {
        if (deed === 'turn') await turn();
        else if (deed === 'event') log.append(mark(n));
        else if (deed === 'piece')
          log.gather({ type: 'content_delta', runId: 'r', ts: 1, delta: `${n} `, index: 0 });
        else if (deed === 'commit') follow(n, log.commit([mark(n)]));
        else if (deed === 'commit that may be refused') follow(n, log.commit([mark(n)], { refusable: true }));
        else if (deed === 'nothing') follow(-1, log.commit([]));
        else if (deed === 'nothing, decided late')
          follow(
            -1,
            log.commit(() => []),
          );
        else
          follow(
            -1,
            log.commit(() => {
              throw new Error('not now');
            }),
          );
      }
      await quiet(log, timers);
      await Promise.all(waits);
      // The store is well again, and the log takes more at once.
      left.length = 0;
      await log.commit([mark(1000)], { refusable: true });
      expect(broken).to.deep.equal([]);
      const stored = await inner.read(ref, 0, 10_000, 1e9);
      expect(delivered).to.deep.equal(stored.map(({ seq }) => seq));
      const bodies = stored.map(({ type, body }) => [type, JSON.parse(body)] as const);
      const marks = bodies.flatMap(([type, data]) => (type === 'custom' ? [data.payload as number] : []));
      const kept = asked.flatMap((deed, n) =>
        deed === 'event' || deed === 'commit' || answered.includes(n) ? [n] : [],
      );
      expect(marks).to.deep.equal([...kept, 1000]);
      expect(marks.filter((n) => refused.includes(n))).to.deep.equal([]);
      const said = bodies.flatMap(([type, data]) => (type === 'content_delta' ? [data.delta] : [])).join('');
      const pieces = asked.flatMap((deed, n) => (deed === 'piece' ? [`${n} `] : [])).join('');
      expect(said).to.equal(pieces);
    });
    await fc.assert(property, { numRuns: cases(60) });
  });
});
