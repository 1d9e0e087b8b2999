import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { OverloadLog } from '../../server/lifecycle/overload-log.js';
import { closeLater } from '../support/resources.js';

describe('the log of overload', () => {
  it('has a line when it begins and ends, and then one a minute with counts', () => {
    const clock = FakeTimers.install({ toFake: ['setTimeout', 'clearTimeout'] });
    closeLater(clock, (it) => it.uninstall());
    const lines: [string, object][] = [];
    const log = new OverloadLog({ warn: (details, message) => void lines.push([message, details]) }, 'a');
    const said = (): string[] => lines.splice(0).map(([message]) => message);
    log.asked(false);
    log.refuses('the loop is 300 ms late', 300);
    log.admits();
    expect(said()).to.deep.equal(['new work is refused: the loop is 300 ms late', 'new work is taken again']);
    for (let each = 0; each < 20; each += 1) {
      log.refuses('the loop is late', 400 + each);
      for (const isRefused of [true, true, false]) log.asked(isRefused);
      log.admits();
    }
    expect(said()).to.deep.equal([]);
    clock.tick(60_000);
    const [[, details]] = lines as [[string, object]];
    expect(details).to.deep.equal({ times: 20, asked: 60, refused: 40, delayMs: 419, gateway: 'a' });
    expect(said()).to.deep.equal([
      'refused 40 of 60 in 60 s: overloaded 20 times more, the event loop up to 419 ms late',
    ]);
    // It has not ended all the while.
    log.asked(true);
    clock.tick(60_000);
    expect(said()).to.have.length(1);
    clock.tick(60_000);
    expect(said()).to.deep.equal(['nothing was refused in 60 s']);
    clock.tick(600_000);
    expect(said()).to.deep.equal([]);
    log.refuses('the loop is 500 ms late', 500);
    expect(said()).to.deep.equal(['new work is refused: the loop is 500 ms late']);
    log.stop();
    expect(clock.countTimers()).to.equal(0);
  });
});
