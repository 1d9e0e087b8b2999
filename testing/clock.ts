import type { Clock as FakeClock } from '@sinonjs/fake-timers';
import { loadPeer } from '../server/runtime/optional-peer.js';

/** The time of a test, which stands still until it is turned. */
export interface Clock {
  now(): number;
  /** Lets so many milliseconds pass: what is due meanwhile happens, in its order. */
  advance(ms: number): Promise<void>;
}

/**
 * Has the time of this process stand still: `Date`, timers and `performance.now()`, of the gateway, its clients and its apps. Timers of
 * Node's own sockets go on.
 */
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
