import type { Clock as FakeClock } from '@sinonjs/fake-timers';
import { loadPeer } from '../server/runtime/optional-peer.js';

/** The time of a test, which stands still until the test advances it. */
export interface Clock {
  now(): number;
  /** Lets so many milliseconds pass. Timers that are due meanwhile fire in order. */
  advance(ms: number): Promise<void>;
}

/** Stops the time of this process, gateway, clients and apps alike: `Date`, timers and `performance.now()`. Timers of Node's sockets keep running. */
export async function holdClock(): Promise<Clock & { release(): void }> {
  const { default: timers } = await loadPeer(
    '@sinonjs/fake-timers',
    'testGateway({ clock: true })',
    () => import('@sinonjs/fake-timers'),
  );
  const clock: FakeClock & { uninstall(): void } = timers.install({
    now: Date.now(),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  return {
    now: () => clock.now,
    advance: async (ms) => {
      await clock.tickAsync(ms);
    },
    release: () => clock.uninstall(),
  };
}
