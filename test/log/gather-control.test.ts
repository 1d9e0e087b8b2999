import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatherControl, type LoadLook } from '../../server/log/gather-control.js';
import { Moderation } from '../../server/log/moderation.js';
import { cases } from '../support/fuzz.js';
import { closeLater } from '../support/resources.js';

const share = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const looks = (look: fc.Arbitrary<LoadLook>) => fc.array(look, { minLength: 1, maxLength: 200 });
const anyLook = fc.record({ cpu: share(0, 3), idle: share(0, 1) });
const IDLE: LoadLook = { cpu: 0.1, idle: 0.9 };
const FULL: LoadLook = { cpu: 1.1, idle: 0 };

/** Whether a process with such a load has more to do than it should. */
const isFull = ({ cpu, idle }: LoadLook): boolean => cpu > 0.78 || idle < 0.03;

describe('how long pieces wait', () => {
  it('is not at all, whatever the clock says, while the process has room', () => {
    const roomy = fc.record({ cpu: share(0, 0.78), idle: share(0.03, 1) });
    fc.assert(
      fc.property(looks(roomy), (seen) => {
        const control = new GatherControl(30);
        for (const look of seen) {
          control.saw(look);
          expect([control.waitMs, control.waits()]).to.deep.equal([0, false]);
        }
      }),
      { numRuns: cases(100) },
    );
  });

  it('is not at all for a process that is kept from the processor and has idle time', () => {
    const control = new GatherControl(30);
    // A tenth of a core took the whole time but a twentieth.
    for (let i = 0; i < 100; i++) control.saw({ cpu: 0.1, idle: 0.05 });
    expect(control.waitMs).to.equal(0);
    // It gets no more than it uses, as in a container with a share of a core.
    for (let i = 0; i < 100; i++) control.saw({ cpu: 0.3, idle: 0 });
    expect(control.waitMs).to.equal(30);
  });

  it('goes up while the process is full and down while it has room, by small steps, within its bound', () => {
    fc.assert(
      fc.property(looks(anyLook), fc.integer({ min: 1, max: 1000 }), (seen, maxMs) => {
        const control = new GatherControl(maxMs);
        for (const look of seen) {
          const before = control.waitMs;
          control.saw(look);
          expect(control.waitMs).to.be.within(0, maxMs);
          expect(Math.abs(control.waitMs - before)).to.be.at.most(5);
          if (isFull(look)) expect(control.waitMs > before || before === maxMs).to.equal(true);
          else expect(control.waitMs < before || before === 0 || look.cpu === 0.78).to.equal(true);
          expect(control.portionMs).to.be.within(control.waitMs, maxMs);
        }
      }),
      { numRuns: cases(200) },
    );
  });

  it('is over some looks after the load is', () => {
    const control = new GatherControl(30);
    for (let i = 0; i < 100; i++) control.saw(FULL);
    expect(control.waitMs).to.equal(30);
    for (let i = 0; i < 6; i++) control.saw(IDLE);
    expect(control.waitMs).to.equal(0);
  });

  it('is an average: as many groups wait for a portion as it takes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 60 }), (steps, maxMs) => {
        const control = new GatherControl(maxMs);
        for (let i = 0; i < steps; i++) control.saw({ cpu: 0.9, idle: 0.1 });
        let waited = 0;
        for (let i = 0; i < 1000; i++) if (control.waits()) waited += control.portionMs;
        expect(waited / 1000).to.be.closeTo(control.waitMs, 0.1);
      }),
      { numRuns: cases(100) },
    );
  });

  it('holds a process near its bound that would be over it, and leaves one alone that would not', () => {
    /** Answers of a piece each 20 ms. Those that were not joined take a share of a core; two that are joined cost what one does. */
    const run = (control: GatherControl, unjoined: number, ms: number): { load: number; joined: number } => {
      const until = new Array<number>(100).fill(0);
      const all = { written: 0, pieces: 0 };
      for (let look = 0; look < ms; look += 50) {
        const now = { written: 0, pieces: 0 };
        for (let at = look; at < look + 50; at += 20)
          for (let i = 0; i < until.length; i++) {
            now.pieces += 1;
            if (until[i]! > at) continue;
            now.written += 1;
            if (control.waits()) until[i] = at + control.portionMs;
          }
        const load = (unjoined * now.written) / now.pieces;
        control.saw({ cpu: load, idle: Math.max(0, 1 - load) });
        if (look < ms / 2) continue;
        all.written += now.written;
        all.pieces += now.pieces;
      }
      const written = all.written / all.pieces;
      return { load: unjoined * written, joined: 1 - written };
    };
    fc.assert(
      fc.property(share(0.1, 1.5), (unjoined) => {
        const control = new GatherControl(30);
        const { load, joined } = run(control, unjoined, 20_000);
        if (unjoined <= 0.78) expect(joined).to.equal(0);
        else expect(load).to.be.within(0.5, 0.9);
        run(control, 0.3, 1000);
        expect(control.waitMs).to.equal(0);
      }),
      { numRuns: cases(50) },
    );
  });
});

describe('pieces that wait', () => {
  it('are flushed no later than the longest wait, and once; those of a burst that is over wait for nothing', () => {
    const clock = FakeTimers.install({ toFake: ['setTimeout', 'setImmediate'] });
    closeLater(clock, (it) => it.uninstall());
    const step = fc.record({ ms: fc.integer({ min: 0, max: 120 }), cpu: share(0, 2) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 100 }), (steps, maxMs) => {
        let [cpuMs, idleMs] = [0, 0];
        const meter = { now: () => clock.now, cpuMs: () => cpuMs, idleMs: () => idleMs };
        const moderation = new Moderation(maxMs, meter);
        const waiting = new Map<number, number>();
        steps.forEach(({ ms, cpu }, n) => {
          clock.tick(ms);
          cpuMs += ms * cpu;
          idleMs += ms * Math.max(0, 1 - cpu);
          const at = clock.now;
          const flush = (): void => {
            expect(clock.now - at).to.be.at.most(maxMs + 1);
            expect(waiting.delete(n)).to.equal(true);
          };
          if (moderation.within(flush)) waiting.set(n, at);
        });
        clock.tick(maxMs + 1);
        expect(waiting.size).to.equal(0);
        clock.tick(1000);
        expect(moderation.within(() => {})).to.equal(null);
        expect(moderation.waitMs).to.equal(0);
      }),
      { numRuns: cases(100) },
    );
  });
});
