import { expect } from 'chai';
import fc from 'fast-check';
import { LogView } from '../../server/log/log-view.js';
import { LogWriter } from '../../server/log/log-writer.js';
import type { DueFlush, Moderation } from '../../server/log/moderation.js';
import { type EventRecord, StoreError, type StoreErrorCode } from '../../server/stores/append.js';
import { memoryStore } from '../../server/stores/memory.js';
import type { Store } from '../../server/stores/store.js';
import type { StoredEvent } from '../../server/stores/stored.js';
import type { EventDraft } from '../../shared/events.js';
import { newTestEpoch, refOf } from '../../testing/stores/records.js';
import { cases } from '../support/fuzz.js';
import { type HeldTimers, holdTimers } from '../support/held-timers.js';
import { overriding } from '../support/overriding.js';

/**
 * How a store takes one append: at once, later, or not at all. Of a lost answer only a resend tells whether the batch is there. It may never
 * keep some data, and may say that the log is another writer's.
 */
type Fate =
  | 'now'
  | 'later'
  | 'refused'
  | 'refused later'
  | 'made and unanswered'
  | 'not made and unanswered'
  | 'never'
  | 'never later'
  | 'fenced'
  | 'fenced later';

/** What somebody asks of a writer. Groups of drafts that make nothing, or that are refused by their author, need no write. */
type Deed =
  | 'event'
  | 'piece'
  | 'commit'
  | 'commit that may be refused'
  | 'nothing'
  | 'nothing, decided late'
  | 'refused by its author'
  | 'turn'
  | 'given up';

const mark = (n: number): EventDraft => ({ type: 'custom', ts: 1, name: 'mark', payload: n });
const turn = (): Promise<void> => new Promise(setImmediate);

const CODES: Partial<Record<Fate, StoreErrorCode>> = {
  refused: 'UNAVAILABLE',
  'not made and unanswered': 'UNKNOWN',
  never: 'REFUSED',
  fenced: 'FENCED',
};

/** What a store was asked: the bodies of events that it can never keep, and whether it said that the log is another's. */
interface Asked {
  readonly never: string[];
  fenced: boolean;
}

/** A store that takes each append, and each cut, as the next fate says, and well once there are none left. */
function fatefulStore(inner: Store, fates: Fate[], asked: Asked): Store {
  /** Whether the batch that comes next may be here already. */
  let isMade = false;
  const fail = (fate: Fate, records: readonly EventRecord[]): void => {
    const code = CODES[fate];
    if (!code) return;
    if (code === 'REFUSED') asked.never.push(...records.map(({ body }) => body));
    if (code === 'FENCED') asked.fenced = true;
    throw new StoreError(code, 'The store does not take it');
  };
  return overriding(inner, {
    append: (log, records, options) => {
      const drawn = fates.shift() ?? 'now';
      const isLate = drawn.endsWith('later') || drawn.endsWith('unanswered');
      const fate = drawn.replace(' later', '') as Fate;
      const make = (): ReturnType<Store['append']> => {
        // A store that has a batch keeps its data.
        if (!(isMade && fate === 'never')) fail(fate, records);
        isMade = fate === 'made and unanswered';
        const result = inner.append(log, records, options);
        if (isMade) throw new StoreError('UNKNOWN', 'The answer was lost');
        return result;
      };
      return isLate ? turn().then(make) : make();
    },
    cut: async (...given) => {
      const fate = fates.length % 3;
      if (fate === 1) throw new StoreError('UNAVAILABLE', 'The store cuts nothing now');
      await inner.cut(...given);
      if (fate === 2) throw new StoreError('UNKNOWN', 'The answer was lost');
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

async function openWriter(fates: Fate[], { gatherMs = 0, events = 1e6 } = {}) {
  const inner = memoryStore();
  await inner.open();
  const ref = { ...refOf('main'), epoch: newTestEpoch() };
  const acquired = await inner.acquire(ref, { create: { epoch: ref.epoch }, holder: 'here' });
  if (acquired.kind !== 'acquired') throw new Error('The session is new');
  const broken: unknown[] = [];
  const delivered: StoredEvent[] = [];
  const asked: Asked = { never: [], fenced: false };
  const store = fatefulStore(inner, fates, asked);
  const log = await LogWriter.open(store, new LogView(store, ref, acquired.head), acquired.head.term, {
    retention: { events, bytes: 1e9, ageMs: 1e9 },
    now: () => 1,
    moderation: gathering(gatherMs),
    listener: {
      committed: (batch) => delivered.push(...batch.events),
      broken: (_term, error) => broken.push(error),
      refused() {},
      rejected() {},
      unavailable() {},
    },
  });
  return { inner, ref, log, broken, delivered, asked };
}

/** The marks, or the pieces, that bodies of events have. */
const numbersIn = (bodies: readonly string[]): number[] =>
  bodies.flatMap((body) => {
    const { payload, delta } = JSON.parse(body) as { payload?: number; delta?: string };
    return payload === undefined ? delta!.trim().split(' ').map(Number) : [payload];
  });

const bodiesOf = (events: readonly StoredEvent[], wanted: string): string[] =>
  events.flatMap(({ type, body }) => (type === wanted ? [body] : []));

describe('the writer of a log', () => {
  it('settles at once what waits behind a refused write and needs none', async () => {
    const { clock } = holdTimers();
    const { log } = await openWriter(['refused later']);
    const first = log.commit([mark(1)], { refusable: true });
    const nothing = log.commit(() => []);
    expect(await first.catch(({ code }) => code)).to.equal('OVERLOADED');
    await nothing;
    expect([log.pending, log.stalled, clock.countTimers()]).to.deep.equal([false, false, 0]);
    log.append(mark(2));
    await log.settled();
    expect(log.view.head).to.equal(1);
  });

  it('sends a batch in doubt again unchanged, however often it is refused meanwhile', async () => {
    const timers = holdTimers();
    const { log, delivered } = await openWriter(['made and unanswered', 'refused', 'refused later']);
    let made = 0;
    const done = log.commit(() => [mark(++made)], { refusable: true });
    await quiet(log, timers);
    expect(await done).to.include({ first: 1, last: 1 });
    expect(numbersIn(bodiesOf(delivered, 'custom'))).to.deep.equal([1]);
  });

  it('refuses at once a caller who would rather be refused than wait, until the store has taken a write', async () => {
    const { clock } = holdTimers();
    for (const answer of ['later', 'never later'] as const) {
      const { log } = await openWriter(['refused', answer, 'later']);
      const kept = log.commit([mark(1)]).catch(({ code }) => code);
      const behind = log.commit([mark(2)]);
      await turn();
      expect(await log.commit([mark(3)], { refusable: true }).catch(({ code }) => code)).to.equal(
        'OVERLOADED',
      );
      expect([log.pending, log.stalled]).to.deep.equal([true, true]);
      clock.tick(50);
      await kept;
      expect([log.pending, log.stalled]).to.deep.equal([true, false]);
      await log.commit([mark(4)], { refusable: true });
      await behind;
    }
  });

  it('takes nothing behind a close, and says so', async () => {
    const { log } = await openWriter(['later']);
    const closed: EventDraft = { type: 'session_closed', ts: 1, reason: 'closed' };
    const close = log.commit([closed], { close: true, acknowledged: () => log.abandon() });
    const behind = log.commit([mark(1)]).catch(({ code }) => code);
    log.append(mark(2));
    await close;
    expect(await behind).to.equal('SESSION_CLOSED');
    expect(await log.commit([]).catch(({ code }) => code)).to.equal('SESSION_CLOSED');
    log.append(mark(3));
    await turn();
    expect([log.pending, log.view.head]).to.deep.equal([false, 1]);
  });

  it('refuses at once what is asked of a log that is another gateway’s, and wakes who waits for the store', async () => {
    const timers = holdTimers();
    const { log, broken } = await openWriter(['refused', 'fenced']);
    const kept = log.commit([mark(1)]).catch(({ code }) => code);
    await turn();
    const flowing = log.flowing();
    await quiet(log, timers);
    await flowing;
    expect(await kept).to.equal('OVERLOADED');
    expect(await log.commit([mark(2)]).catch(({ code }) => code)).to.equal('OVERLOADED');
    log.append(mark(3));
    expect([log.pending, broken.length, log.view.head]).to.deep.equal([false, 1, 0]);
  });

  it('settles all that is asked of it, whatever the store answers', async () => {
    const fates = fc.array(
      fc.constantFrom<Fate>(
        ...(['now', 'later', 'later', 'refused', 'refused later', 'refused later'] as const),
        ...(['made and unanswered', 'not made and unanswered', 'never', 'never later'] as const),
        ...(['made and unanswered', 'not made and unanswered', 'fenced', 'fenced later'] as const),
      ),
      { maxLength: 6 },
    );
    const deeds = fc.array(
      fc.constantFrom<Deed>(
        ...(['event', 'event', 'piece', 'piece', 'commit', 'commit', 'turn', 'turn', 'turn'] as const),
        ...(['commit that may be refused', 'commit that may be refused', 'nothing', 'nothing'] as const),
        ...(['nothing, decided late', 'refused by its author', 'given up'] as const),
      ),
      { minLength: 1, maxLength: 14 },
    );
    const timers = holdTimers();
    const setting = fc.record({ gatherMs: fc.constantFrom(0, 2), events: fc.constantFrom(2, 1e6) });
    const property = fc.asyncProperty(fates, deeds, setting, async (given, deed, options) => {
      const left = [...given];
      const { inner, ref, log, broken, delivered, asked } = await openWriter(left, options);
      const answered: number[] = [];
      const refused: number[] = [];
      const waits: Promise<unknown>[] = [log.flowing()];
      const follow = (n: number, done: Promise<unknown>): void =>
        void waits.push(
          done.then(
            () => answered.push(n),
            // Of a write whose outcome is unknown nothing is promised.
            ({ details }) => details?.outcome === 'unknown' || refused.push(n),
          ),
        );
      const DEEDS: { readonly [Each in Deed]: (n: number) => unknown } = {
        turn,
        event: (n) => log.append(mark(n)),
        piece: (n) => log.gather({ type: 'content_delta', runId: 'r', ts: 1, delta: `${n} `, index: 0 }),
        commit: (n) => follow(n, log.commit([mark(n)])),
        'commit that may be refused': (n) => follow(n, log.commit([mark(n)], { refusable: true })),
        nothing: () => follow(-1, log.commit([])),
        'nothing, decided late': () =>
          follow(
            -1,
            log.commit(() => []),
          ),
        'refused by its author': () =>
          follow(
            -1,
            log.commit(() => {
              throw new Error('not now');
            }),
          ),
        'given up': () => log.abandon(),
      };
      for (const [n, each] of deed.entries()) {
        await DEEDS[each](n);
        waits.push(log.flowing());
      }
      await quiet(log, timers);
      await Promise.all(waits);
      await log.quiesce();

      const isOver = asked.fenced || deed.includes('given up');
      expect(broken.length).to.be.at.most(asked.fenced ? 1 : 0);
      // The store is well again. A log that is over stays so, and any other takes more at once.
      left.length = 0;
      const more = await log.commit([mark(1000)], { refusable: true }).then(
        () => 'taken',
        ({ code }) => code,
      );
      expect(more).to.equal(isOver ? 'OVERLOADED' : 'taken');

      const stored = await inner.read(ref, 0, 10_000, 1e9);
      expect(delivered.map(({ seq }) => seq)).to.deep.equal(delivered.map((_, at) => at + 1));
      // Of a log that is over, the store may have what nobody was told.
      const told = stored.filter(({ seq }) => seq <= delivered.length);
      expect(told.map(({ body }) => body)).to.deep.equal(
        delivered.slice(delivered.length - told.length).map(({ body }) => body),
      );
      const marks = numbersIn(bodiesOf(delivered, 'custom'));
      const pieces = numbersIn(bodiesOf(delivered, 'content_delta'));
      const never = numbersIn(asked.never);
      expect(refused.filter((n) => numbersIn(bodiesOf(stored, 'custom')).includes(n))).to.deep.equal([]);
      expect([...marks, 1000]).to.include.members(answered.filter((n) => n >= 0));
      const asksFor = (...wanted: readonly Deed[]): number[] =>
        deed.flatMap((each, n) => (wanted.includes(each) && !never.includes(n) ? [n] : []));
      const owed = [...asksFor('event', 'commit'), ...answered.filter((n) => n >= 0), 1000];
      const inOrder = [...new Set(owed)].toSorted((one, other) => one - other);
      if (isOver) {
        expect(marks).to.deep.equal(inOrder.slice(0, marks.length));
        return;
      }
      expect(marks).to.deep.equal(inOrder);
      expect(delivered.length - stored.length).to.be.at.least(0);
      // A run whose data the store can never keep says no more.
      const said = asksFor('piece');
      if (never.length === 0) expect(pieces).to.deep.equal(said);
      else expect(pieces).to.deep.equal(said.filter((n) => pieces.includes(n)));
    });
    await fc.assert(property, { numRuns: cases(100) });
  });
});
