import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { LoopDelay } from '../../server/limits/loop-delay.js';
import { closeLater } from '../support/resources.js';

describe('looks at the event loop', () => {
  it('go by the time of the machine: a clock that a test holds need not stop for them', () => {
    const clock = FakeTimers.install({ toFake: ['setInterval', 'clearInterval', 'setTimeout'] });
    closeLater(clock, (it) => it.uninstall());
    const load = new LoopDelay(250, { refuses() {}, admits() {} });
    closeLater(load, (it) => it.stop());
    load.start();
    expect(clock.countTimers()).to.equal(0);
  });
});
