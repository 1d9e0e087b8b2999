import FakeTimers from '@sinonjs/fake-timers';
import { expect } from 'chai';
import { RateLimiter } from '../../server/limits/token-bucket.js';
import { type GatewayError, isGatewayError } from '../../shared/errors.js';

/** Takes as many tokens as there are, up to `max`. */
function drain(limiter: RateLimiter, key: string, max = 1000): number {
  for (let taken = 0; taken < max; taken++) if (refusal(limiter, key)) return taken;
  return max;
}

function refusal(limiter: RateLimiter, key: string): GatewayError | undefined {
  try {
    limiter.take(key);
    return undefined;
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
}

describe('RateLimiter', () => {
  let clock: ReturnType<typeof FakeTimers.install>;
  beforeEach(() => {
    clock = FakeTimers.install({ toFake: ['performance', 'Date'] });
  });
  afterEach(() => clock.uninstall());

  it('allows a burst of twice the rate, then the rate', () => {
    const limiter = new RateLimiter({ perSecond: 10 });
    expect(drain(limiter, 'a')).to.equal(20);
    clock.tick(1000);
    expect(drain(limiter, 'a')).to.equal(10);
    clock.tick(60_000);
    expect(drain(limiter, 'a')).to.equal(20);
  });

  it('says exactly when the next token is there', () => {
    const limiter = new RateLimiter({ perSecond: 4, burst: 1 });
    limiter.take('a');
    clock.tick(100);
    const error = refusal(limiter, 'a');
    expect(error).to.include({ code: 'RATE_LIMITED', status: 429, retryAfterMs: 150 });
    clock.tick(149);
    expect(refusal(limiter, 'a')?.retryAfterMs).to.equal(1);
    clock.tick(1);
    expect(refusal(limiter, 'a')).to.equal(undefined);
  });

  it('keeps its word at any rate', () => {
    for (let rate = 0.3; rate < 60; rate += 0.7) {
      const limiter = new RateLimiter({ perSecond: rate });
      drain(limiter, 'a');
      clock.tick(1);
      for (let times = 0; times < 20; times++) {
        clock.tick(refusal(limiter, 'a')?.retryAfterMs ?? 0);
        expect(refusal(limiter, 'a')).to.equal(undefined);
      }
    }
  });

  it('does not make refused callers wait longer', () => {
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 });
    limiter.take('a');
    for (let index = 0; index < 9; index++) {
      clock.tick(100);
      expect(refusal(limiter, 'a')?.code).to.equal('RATE_LIMITED');
    }
    clock.tick(101);
    expect(refusal(limiter, 'a')).to.equal(undefined);
  });

  it('keeps keys apart', () => {
    const limiter = new RateLimiter({ perSecond: 1 });
    drain(limiter, 'a');
    expect(drain(limiter, 'b')).to.equal(2);
  });

  it('allows rates below one a second', () => {
    const limiter = new RateLimiter({ perSecond: 0.1 });
    expect(drain(limiter, 'a')).to.equal(1);
    expect(refusal(limiter, 'a')?.retryAfterMs).to.equal(10_000);
  });

  for (const perSecond of [Number.POSITIVE_INFINITY, 1e9]) {
    it(`is off at ${perSecond} a second and remembers nobody`, () => {
      const limiter = new RateLimiter({ perSecond });
      expect(drain(limiter, 'a', 100_000)).to.equal(100_000);
      expect(limiter.size).to.equal(0);
    });
  }

  for (const options of [
    { perSecond: 0 },
    { perSecond: -1 },
    { perSecond: Number.NaN },
    { perSecond: 1, burst: 0.5 },
  ]) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => new RateLimiter(options))
        .to.throw()
        .with.property('code', 'INVALID_REQUEST');
    });
  }

  it('forgets keys whose buckets are full again, and no others', () => {
    const limiter = new RateLimiter({ perSecond: 10 });
    for (let index = 0; index < 500; index++) limiter.take(`idle-${index}`);
    for (let step = 0; step < 60; step++) {
      clock.tick(100);
      drain(limiter, 'busy');
    }
    expect(limiter.size).to.equal(1);
    expect(drain(limiter, 'busy')).to.equal(0);
  });

  it('never lets a key take more than burst + rate x time, whatever the pattern', () => {
    const limiter = new RateLimiter({ perSecond: 5 });
    let taken = 0;
    for (let step = 1; step <= 300; step++) {
      clock.tick((step * 37) % 700);
      taken += drain(limiter, 'a', step % 4);
      expect(taken).to.be.at.most(10 + (clock.now / 1000) * 5 + 1e-6);
    }
  });

  it('stays within its bound of keys', () => {
    const limiter = new RateLimiter({ perSecond: 1, maxKeys: 100 });
    for (let index = 0; index < 10_000; index++) limiter.take(`key-${index}`);
    expect(limiter.size).to.be.at.most(100);
  });
});
