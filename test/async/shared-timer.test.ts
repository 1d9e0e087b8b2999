import { AsyncLocalStorage } from 'node:async_hooks';
import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { SharedTimer, type TimedWork } from '../../server/async/shared-timer.js';
import { closeLater } from '../support/resources.js';

describe('a timer that many share', () => {
  const clockOf = () =>
    closeLater(FakeTimers.install({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }), (it) =>
      it.uninstall(),
    );

  const due = (told: string[], name: string, ms: number): TimedWork => ({
    dueAt: performance.now() + ms,
    timeUp: () => told.push(`${name} ${performance.now()}`),
  });

  it('calls each back at its own time, whatever the order in which they came', () => {
    const clock = clockOf();
    const timer = new SharedTimer();
    const told: string[] = [];
    for (const [name, ms] of [
      ['late', 500],
      ['soon', 20],
      ['between', 100],
    ] as const)
      timer.add(due(told, name, ms));
    expect(clock.countTimers()).to.equal(1);
    clock.tick(1000);
    expect(told).to.deep.equal(['soon 20', 'between 100', 'late 500']);
    expect(clock.countTimers()).to.equal(0);
  });

  it('calls none back that was taken out, and takes new ones while it calls back', () => {
    const clock = clockOf();
    const timer = new SharedTimer();
    const told: string[] = [];
    const over = due(told, 'over', 50);
    timer.add(over);
    timer.delete(over);
    timer.add({ dueAt: performance.now() + 60, timeUp: () => timer.add(due(told, 'next', 10)) });
    clock.tick(50);
    expect(told).to.deep.equal([]);
    clock.tick(100);
    expect(told).to.deep.equal(['next 70']);
    expect(clock.countTimers()).to.equal(0);
  });

  it('keeps nothing of the context in which it was set', () => {
    const clock = clockOf();
    const store = new AsyncLocalStorage<string>();
    const timer = new SharedTimer();
    const seen: unknown[] = [];
    store.run('a call', () =>
      timer.add({ dueAt: performance.now() + 1, timeUp: () => seen.push(store.getStore()) }),
    );
    clock.tick(1);
    expect(seen).to.deep.equal([undefined]);
  });

  it('waits longer than a timer of Node can', () => {
    const clock = clockOf();
    const timer = new SharedTimer();
    const told: string[] = [];
    timer.add(due(told, 'far', 2 ** 32));
    clock.tick(2 ** 32 - 1);
    expect(told).to.deep.equal([]);
    clock.tick(1);
    expect(told).to.have.length(1);
  });
});
