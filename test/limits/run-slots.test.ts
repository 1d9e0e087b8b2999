import { expect } from 'chai';
import fc from 'fast-check';
import { type RunSlot, RunSlots, type SlotState } from '../../server/limits/run-slots.js';
import { refusalOf } from '../support/refused.js';
import '../support/fuzz.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Bounds {
  readonly atOnce?: number;
  readonly perTenant?: number;
  readonly waiting?: number;
}

const slotsOf = ({ atOnce = Infinity, perTenant = Infinity, waiting = Infinity }: Bounds): RunSlots =>
  new RunSlots({ runsAtOnce: atOnce, tenant: { runsAtOnce: perTenant, runsWaiting: waiting } });

/** A run as the model sees it. */
interface Modelled {
  readonly tenant: string;
  state: SlotState;
  rests: number;
}

/** Gives away what is free, as slowly and plainly as can be. */
function settle(runs: readonly Modelled[], { atOnce = Infinity, perTenant = Infinity }: Bounds): void {
  const working = (tenant?: string): number =>
    runs.filter((run) => run.state === 'working' && (tenant === undefined || run.tenant === tenant)).length;
  for (;;) {
    if (working() >= atOnce) return;
    const firsts = runs.filter(
      (run, at) =>
        run.state === 'waiting' &&
        !runs.slice(0, at).some((other) => other.state === 'waiting' && other.tenant === run.tenant),
    );
    const may = firsts.filter(({ tenant }) => working(tenant) < perTenant);
    const least = Math.min(...may.map(({ tenant }) => working(tenant)));
    const next = may.find(({ tenant }) => working(tenant) === least);
    if (!next) return;
    next.state = 'working';
  }
}

const TENANTS = ['a', 'b', 'c'];
const step = fc.oneof(
  fc.record({ does: fc.constant('enter' as const), tenant: fc.constantFrom(...TENANTS) }),
  fc.record({ does: fc.constantFrom('rest' as const, 'work' as const, 'leave' as const), at: fc.nat(40) }),
);
const bounds = fc.record({
  atOnce: fc.integer({ min: 1, max: 4 }),
  perTenant: fc.integer({ min: 1, max: 4 }),
});

describe('the turns of runs', () => {
  it('are, whatever comes, rests, goes on and ends, those of a plain model', async () => {
    const property = fc.asyncProperty(bounds, fc.array(step, { maxLength: 60 }), async (given, steps) => {
      const slots = slotsOf(given);
      const model: Modelled[] = [];
      const runs: RunSlot[] = [];
      const began: number[] = [];
      for (const each of steps) {
        if (each.does === 'enter') {
          const at = runs.length;
          model.push({ tenant: each.tenant, state: 'waiting', rests: 0 });
          runs.push(slots.enter(each.tenant, () => began.push(at)));
          if (runs[at]!.state === 'working') began.push(at);
        } else if (runs.length > 0) {
          const at = each.at % runs.length;
          const run = model[at]!;
          if (each.does === 'leave') {
            run.state = 'left';
            runs[at]!.leave();
          } else if (each.does === 'rest' && run.state !== 'waiting') {
            run.rests += 1;
            if (run.state === 'working') run.state = 'resting';
            runs[at]!.rest();
          } else if (each.does === 'work' && run.rests > 0) {
            run.rests -= 1;
            if (run.rests === 0 && run.state === 'resting') run.state = 'working';
            runs[at]!.work();
          }
        }
        settle(model, given);
        expect(runs.map(({ state }) => state)).to.deep.equal(model.map(({ state }) => state));
        expect(slots.waiting).to.equal(model.filter(({ state }) => state === 'waiting').length);
        expect(slots.working).to.equal(model.filter(({ state }) => state === 'working').length);
        expect(slots.tenants).to.equal(
          new Set(model.filter(({ state }) => state !== 'left').map(({ tenant }) => tenant)).size,
        );
      }
      await nextTurn();
      // Each run that had its turn began once, but for those that ended before it.
      expect(new Set(began).size).to.equal(began.length);
      for (const [at, { state }] of model.entries())
        if (state === 'working' || state === 'resting') expect(began).to.include(at);
        else if (state === 'waiting') expect(began).not.to.include(at);
    });
    await fc.assert(property);
  });

  it('go to the tenant with the fewest at work, and in order within one', async () => {
    const slots = slotsOf({ atOnce: 4 });
    const began: string[] = [];
    const enter = (tenant: string, name: string): RunSlot => {
      const slot = slots.enter(tenant, () => began.push(name));
      if (slot.state === 'working') began.push(name);
      return slot;
    };
    const large = Array.from({ length: 15 }, (_, at) => enter('large', `large ${at}`));
    enter('small', 'small 0');
    enter('small', 'small 1');
    for (const each of [0, 1, 2]) {
      large[each]!.leave();
      await nextTurn();
    }
    expect(began.slice(4)).to.deep.equal(['small 0', 'small 1', 'large 4']);
  });

  it('do not come for a run that was aborted in the line, nor for one that ends before its turn begins', async () => {
    const slots = slotsOf({ atOnce: 1 });
    const began: string[] = [];
    const first = slots.enter('a', () => {});
    const second = slots.enter('a', () => began.push('second'));
    const third = slots.enter('a', () => began.push('third'));
    slots.enter('a', () => began.push('fourth'));
    second.leave();
    first.leave();
    third.leave();
    await nextTurn();
    expect(began).to.deep.equal(['fourth']);
  });

  it('are refused by the name of the limit where as many of the tenant wait as may, and of no other', async () => {
    const slots = slotsOf({ atOnce: 1, waiting: 2 });
    for (let each = 0; each < 3; each += 1) slots.enter('a', () => {});
    const error = await refusalOf(() => slots.check('a'));
    expect(error).to.include({ code: 'OVERLOADED', option: 'limits.tenant.runsWaiting' });
    expect(slots.check('b')).to.equal(undefined);
  });

  it('know who has less than an equal share', () => {
    const slots = slotsOf({});
    expect(slots.isBelowShare('small')).to.equal(false);
    slots.enter('large', () => {});
    expect(slots.isBelowShare('small')).to.equal(false);
    slots.enter('large', () => {});
    expect(slots.isBelowShare('small')).to.equal(true);
    expect(slots.isBelowShare('large')).to.equal(false);
    slots.enter('small', () => {});
    expect(slots.isBelowShare('small')).to.equal(false);
  });
});
