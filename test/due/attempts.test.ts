import { expect } from 'chai';
import { mostAttempts, pauseAfter } from '../../server/due/attempts.js';
import { deadWork, type FoundDead, revive } from '../../server/due/dead.js';
import { DONE, type DueKind, type DueOutcome, LEFT } from '../../server/due/due-kind.js';
import { DueWorker } from '../../server/due/due-worker.js';
import { forgetWhenDue } from '../../server/due/forgotten.js';
import { StoreError } from '../../server/stores/append.js';
import type { StoredRecord } from '../../server/stores/records.js';
import type { Store } from '../../server/stores/store.js';
import { TestClock } from '../schedules/test-clock.js';
import { collect } from '../support/client.js';
import { gate } from '../support/gate.js';
import { overriding } from '../support/overriding.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const home = { scope: 'ann' };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** A time before which every pause between attempts is over. */
const PAUSED = 16 * MINUTE;

/** A worker on a store whose clock the test sets, with kinds of work that do as they are told. */
function begin(kinds: Readonly<Record<string, DueKind>>, clock = new TestClock(), given?: Store) {
  const reports: string[] = [];
  const store = given ?? clock.store;
  const worker = new DueWorker({
    store,
    report: (_error, what) => void reports.push(what),
    format: ({ name }) => name,
  });
  for (const [name, kind] of Object.entries(kinds)) worker.on(name, kind);
  forgetWhenDue(worker, store, []);
  closeLater(worker, (it) => it.stop(0));
  worker.start();
  const owe = (kind: string, id: string, where = home, value: object = {}) =>
    store.changeRecords(where, [{ kind, id, value: JSON.stringify(value), dueAt: clock.now() }]);
  const find = async (kind: string, id: string): Promise<StoredRecord | undefined> =>
    (await store.records({ home, kind, id, limit: 1 }))[0];
  const dead = (): Promise<readonly FoundDead[]> => collect(deadWork(store));
  const attemptsOf = async (kind: string, id: string): Promise<number | undefined> => {
    const record = await find(kind, id);
    return record && ((JSON.parse(record.value) as { attempts?: number }).attempts ?? 0);
  };
  return { clock, store, worker, reports, owe, find, dead, attemptsOf };
}

/** Work that fails for ever, and counts how often it was begun. */
function failing(words: Partial<DueKind> = {}): DueKind & { begun: number } {
  const kind = {
    begun: 0,
    do(): never {
      kind.begun += 1;
      throw new Error('no');
    },
    ...words,
  };
  return kind;
}

/** Work that is done at once. */
const good = (store: () => Store): DueKind & { readonly did: string[] } => {
  const kind = {
    did: [] as string[],
    async do({ home: where, kind: name, id, token }: StoredRecord): Promise<DueOutcome> {
      kind.did.push(id);
      await store().changeRecords(where, [{ kind: name, id, token }]);
      return DONE;
    },
  };
  return kind;
};

describe('attempts of due work', () => {
  it('are counted in the record, and with the last one it is kept aside', async () => {
    const bad = failing({ attempts: 4 });
    const { clock, owe, find, dead, attemptsOf, reports, worker } = begin({ bad });
    await owe('bad', 'one', home, { own: 'value' });
    for (let attempt = 1; attempt < 4; attempt++) {
      await until(async () => (await attemptsOf('bad', 'one')) === attempt);
      const { value, dueAt = 0 } = (await find('bad', 'one'))!;
      expect(JSON.parse(value)).to.containSubset({ own: 'value', failed: { error: 'no' } });
      expect(dueAt - clock.now()).to.be.within(0, 2000 * 2 ** attempt);
      clock.forward(PAUSED);
    }
    await until(async () => (await dead()).length === 1);
    expect(await find('bad', 'one')).to.equal(undefined);
    expect((await dead())[0]!.kept).to.containSubset({
      ...{ kind: 'bad', id: 'one', attempts: 4, failed: { error: 'no' } },
    });
    expect(bad.begun).to.equal(4);
    expect(reports.at(-1)).to.equal('the bad one was given up');
    expect(worker.outcomes).to.have.deep.members([
      { kind: 'bad', outcome: 'failed', count: 3 },
      { kind: 'bad', outcome: 'dead', count: 1 },
    ]);
  });

  it('last for a day where a kind says nothing else', () => {
    const kind = failing();
    let ms = 0;
    for (let attempts = 1; attempts < mostAttempts(kind); attempts++) ms += pauseAfter(attempts, kind);
    expect(ms / (60 * MINUTE)).to.be.within(20, 28);
  });

  it('keep nobody waiting, in the same home and in others', async () => {
    let store!: Store;
    const [bad, fine] = [failing(), good(() => store)];
    const began = begin({ bad, fine });
    ({ store } = began);
    for (let i = 0; i < 40; i++) await began.owe('bad', `b${i}`, { scope: `s${i}` });
    for (let i = 0; i < 40; i++) await began.owe('fine', `f${i}`, { scope: `s${i}` });
    await until(() => fine.did.length === 40);
    // None is begun anew before its pause is over.
    expect(bad.begun).to.be.within(40, 80);
  });

  it('are not counted anew by a gateway that begins', async () => {
    const clock = new TestClock();
    const one = begin({ bad: failing({ attempts: 3 }) }, clock);
    await one.owe('bad', 'one');
    await until(async () => (await one.attemptsOf('bad', 'one')) === 1);
    await one.worker.stop(1000);
    clock.forward(PAUSED);
    const two = begin({ bad: failing({ attempts: 3 }) }, clock);
    await until(async () => (await two.attemptsOf('bad', 'one')) === 2);
    clock.forward(PAUSED);
    await until(async () => (await two.dead()).length === 1);
  });

  it('are none where work is put off, or not wanted', async () => {
    let outcome: DueOutcome = { laterMs: 30_000 };
    let asked = 0;
    const bad = failing({
      attempts: 2,
      wanted: () => {
        asked += 1;
        return outcome;
      },
    });
    const { clock, owe, find, dead, attemptsOf, worker } = begin({ bad });
    await owe('bad', 'one');
    for (let i = 1; i <= 5; i++) {
      await until(() => asked === i);
      await until(async () => (await find('bad', 'one'))!.dueAt! > clock.now() + 20_000);
      clock.forward(31_000);
    }
    expect(await attemptsOf('bad', 'one')).to.equal(0);
    outcome = LEFT;
    await until(() => asked >= 6);
    outcome = { drop: 'nobody wants it' };
    clock.forward(PAUSED);
    await until(async () => (await find('bad', 'one')) === undefined);
    expect([bad.begun, (await dead()).length]).to.deep.equal([0, 0]);
    expect(worker.outcomes).to.deep.equal([{ kind: 'bad', outcome: 'dropped', count: 1 }]);
  });

  it('are over at once where work can’t be done, or the store refuses its data', async () => {
    const bad = failing({ do: () => ({ dead: 'never' }) });
    const refused = failing({
      do: () => {
        throw new StoreError('REFUSED', 'odd data');
      },
    });
    const { owe, dead } = begin({ bad, refused });
    await owe('bad', 'one');
    await owe('refused', 'two');
    await until(async () => (await dead()).length === 2);
    expect((await dead()).map(({ kept }) => kept.failed.error)).to.have.members(['never', 'odd data']);
  });

  it('end where a handler never answers, which then holds up nothing', async () => {
    let store!: Store;
    const hung = gate();
    const hanging: DueKind = { do: () => hung.passed.then(() => DONE), mostMs: () => 20, attempts: 1 };
    const fine = good(() => store);
    const began = begin({ hanging, fine });
    ({ store } = began);
    for (let i = 0; i < 16; i++) await began.owe('hanging', `h${i}`, { scope: `s${i}` });
    for (let i = 0; i < 16; i++) await began.owe('fine', `f${i}`, { scope: `s${i}` });
    await until(() => fine.did.length === 16);
    await until(async () => (await began.dead()).length === 16);
    hung.open();
  });

  it('are counted where a handler outlasts its lease', async () => {
    const [slow, hung] = [gate(), gate()];
    const bad = failing({
      async do() {
        bad.begun += 1;
        await (bad.begun === 1 ? slow : hung).passed;
        throw new Error('no');
      },
    });
    const { clock, owe, attemptsOf, store } = begin({ bad });
    await owe('bad', 'one');
    await until(() => bad.begun === 1);
    // It is taken again meanwhile.
    clock.forward(3000);
    await until(async () => (await store.records({ home, kind: 'bad', limit: 1 }))[0]!.dueAt! > clock.now());
    slow.open();
    await until(async () => (await attemptsOf('bad', 'one')) === 1);
    hung.open();
  });

  it('are none where the end of the gateway cuts them off', async () => {
    let isAborted = false;
    const bad = failing({
      bounds: () => [{ name: 'all', most: 1 }],
      do: (_record, { signal }) => {
        bad.begun += 1;
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            isAborted = true;
            reject(signal.reason);
          });
        });
      },
    });
    const { owe, attemptsOf, worker } = begin({ bad });
    await owe('bad', 'one');
    await until(() => bad.begun === 1);
    await worker.stop(1000, 10);
    expect(isAborted).to.equal(true);
    expect(await attemptsOf('bad', 'one')).to.equal(0);
  });

  it('wait for a lane of their own without holding up others', async () => {
    let store!: Store;
    const slow = gate();
    const begun: string[] = [];
    const bounded: DueKind = {
      bounds: ({ home: { scope } }) => [{ name: `of ${scope}`, most: 2 }],
      async do({ home: where, kind, id, token }) {
        begun.push(id);
        await slow.passed;
        await store.changeRecords(where, [{ kind, id, token }]);
        return DONE;
      },
    };
    const fine = good(() => store);
    const began = begin({ bounded, fine });
    ({ store } = began);
    for (let i = 0; i < 5; i++) await began.owe('bounded', `b${i}`);
    await began.owe('fine', 'f');
    await until(() => fine.did.length === 1 && begun.length === 2);
    for (let i = 0; i < 5; i++) expect([0, undefined]).to.include(await began.attemptsOf('bounded', `b${i}`));
    slow.open();
    await until(async () => {
      began.clock.forward(1000);
      return (await store.records({ home, kind: 'bounded', limit: 9 })).length === 0;
    });
    expect(new Set(begun).size).to.equal(5);
  });

  it('are neither lost nor doubled where the clock is set back and forth', async () => {
    const bad = failing({ attempts: 6 });
    const { clock, owe, dead, find } = begin({ bad });
    await owe('bad', 'one');
    for (let attempt = 1; attempt < 6; attempt++) {
      await until(async () => JSON.parse((await find('bad', 'one'))!.value).attempts === attempt);
      clock.forward(attempt % 2 ? DAY : -DAY);
      clock.forward((await find('bad', 'one'))!.dueAt! - clock.now() + 1);
    }
    await until(async () => (await dead()).length === 1);
    expect(bad.begun).to.equal(6);
  });

  it('are noted once the store can be written again', async () => {
    const clock = new TestClock();
    let isAway = true;
    const store = overriding(clock.store, {
      changeRecords: (...args) => {
        if (isAway && args[1].some(({ value = '' }) => value.includes('attempts')))
          throw new StoreError('UNAVAILABLE', 'away');
        return clock.store.changeRecords(...args);
      },
    });
    const bad = failing({ attempts: 2 });
    const { owe, dead } = begin({ bad }, clock, store);
    await owe('bad', 'one');
    await until(() => bad.begun === 1);
    clock.forward(3000);
    await until(() => bad.begun === 2);
    expect(await dead()).to.deep.equal([]);
    isAway = false;
    clock.forward(3000);
    await until(() => bad.begun === 3);
    clock.forward(PAUSED);
    await until(async () => (await dead()).length === 1);
  });
});

describe('given-up work', () => {
  it('is tried again with all attempts, unless something has taken its place', async () => {
    const bad = failing({ attempts: 2 });
    const { clock, owe, dead, store, attemptsOf, find } = begin({ bad });
    const die = async (): Promise<FoundDead> => {
      await until(async () => (await attemptsOf('bad', 'one')) === 1);
      clock.forward(PAUSED);
      await until(async () => (await dead()).length === 1);
      return (await dead())[0]!;
    };
    await owe('bad', 'one', home, { own: 'value' });
    expect(await revive(store, await die())).to.equal(true);
    expect(await dead()).to.deep.equal([]);
    const again = await die();
    expect(bad.begun).to.equal(4);
    expect(JSON.parse(again.kept.value)).to.include({ own: 'value' });
    await store.changeRecords(home, [
      { kind: 'bad', id: 'one', value: '{"other":1}', dueAt: clock.now() + DAY },
    ]);
    expect(await revive(store, again)).to.equal(false);
    expect((await find('bad', 'one'))!.value).to.equal('{"other":1}');
  });

  it('is forgotten after its time', async () => {
    const bad = failing({ attempts: 1, deadMs: 10 * DAY });
    const { clock, owe, dead } = begin({ bad });
    await owe('bad', 'one');
    await until(async () => (await dead()).length === 1);
    clock.forward(10 * DAY - MINUTE);
    expect(await dead()).to.have.length(1);
    clock.forward(2 * MINUTE);
    await until(async () => (await dead()).length === 0);
  });
});
