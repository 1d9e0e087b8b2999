import { expect } from 'chai';
import { AttemptLimiter } from '../../server/auth/attempts.js';
import { codeOf, refusalOf } from '../support/refused.js';
import { SECRET } from './fixtures.js';

const IP = '203.0.113.7';

describe('AttemptLimiter', () => {
  let time: number;
  let limiter: AttemptLimiter;
  const fail = (times: number, ip = IP) => {
    for (let index = 0; index < times; index++) limiter.fail(ip, 'wrong');
  };
  const blocked = async (ip = IP, token = 'any') => {
    try {
      limiter.admit(ip, token);
      return false;
    } catch {
      return (await codeOf(() => limiter.admit(ip, token))) === 'RATE_LIMITED';
    }
  };

  beforeEach(() => {
    time = 1000;
    limiter = new AttemptLimiter({ now: () => time });
  });

  it('lets ten failures pass and refuses the eleventh try', async () => {
    fail(9);
    expect(await blocked()).to.equal(false);
    fail(1);
    expect(await blocked()).to.equal(true);
  });

  it('says after how long the oldest failure leaves the window', async () => {
    fail(1);
    time += 15_000;
    fail(9);
    expect((await refusalOf(() => limiter.admit(IP, 'x'))).retryAfterMs).to.equal(45_000);
    time += 45_000;
    expect(await blocked()).to.equal(false);
    fail(1);
    expect(await blocked()).to.equal(true);
  });

  it('never allows more than ten failures in any minute', async () => {
    const failures: number[] = [];
    for (let step = 0; step < 400; step++) {
      time += 700;
      if (await blocked()) continue;
      fail(1);
      failures.push(time);
    }
    for (const [index, at] of failures.entries()) {
      const eleventh = failures[index + 10];
      if (eleventh !== undefined) expect(eleventh - at).to.be.at.least(60_000);
    }
  });

  it('does not lengthen a block by tries made during it', async () => {
    fail(10);
    for (let index = 0; index < 50; index++) expect(await blocked()).to.equal(true);
    time += 60_000;
    expect(await blocked()).to.equal(false);
  });

  it('counts both spellings of an address and a whole /64 as one', async () => {
    fail(5, '198.51.100.1');
    fail(5, '::ffff:198.51.100.1');
    expect(await blocked('198.51.100.1')).to.equal(true);
    for (let host = 1; host <= 10; host++) fail(1, `2001:db8::${host}`);
    expect(await blocked('2001:db8::beef')).to.equal(true);
    expect(await blocked('2001:db8:0:1::1')).to.equal(false);
  });

  it('includes loopback', async () => {
    fail(10, '127.0.0.1');
    expect(await blocked('::1')).to.equal(true);
  });

  it('lets a long token that proved good pass the block, until it fails', async () => {
    limiter.remember(SECRET);
    fail(10);
    expect(await blocked(IP, SECRET)).to.equal(false);
    expect(await blocked(IP, `${SECRET}x`)).to.equal(true);
    limiter.fail(IP, SECRET);
    expect(await blocked(IP, SECRET)).to.equal(true);
  });

  it('does not let a short token pass: it could be guessed that way', async () => {
    limiter.remember('short');
    fail(10);
    expect(await blocked(IP, 'short')).to.equal(true);
  });

  it('forgets the oldest address past its bound', async () => {
    limiter = new AttemptLimiter({ now: () => time, maxEntries: 2 });
    fail(10, '192.0.2.1');
    fail(10, '192.0.2.2');
    fail(10, '192.0.2.3');
    expect(await blocked('192.0.2.1')).to.equal(false);
    expect(await blocked('192.0.2.2')).to.equal(true);
    expect(await blocked('192.0.2.3')).to.equal(true);
  });
});
