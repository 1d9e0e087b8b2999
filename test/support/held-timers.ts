import FakeTimers, { type Clock } from '@sinonjs/fake-timers';
import { closeLater } from './resources.js';

/** Where the product's own code lies, in a line of a stack. */
const OWN = /(?<!\/test)\/(?:client|server|shared)\//;

/** Timers that a test lets run when it wants. */
export interface HeldTimers {
  readonly clock: Clock;
  /**
   * Where the product set the timers that have not run yet. Others that live in this process, as sockets that an earlier test left to
   * close, set timers too: they are not among them.
   */
  left(): string[];
}

/** Holds timers until the test ends, however it ends. @param others What else is held */
export function holdTimers(...others: ('Date' | 'performance')[]): HeldTimers {
  const clock = FakeTimers.install({
    toFake: ['setTimeout', 'clearTimeout', ...others],
    shouldClearNativeTimers: true,
  });
  closeLater(clock, (it) => it.uninstall());
  const origins = new Map<unknown, string>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  globalThis.setTimeout = Object.assign(
    (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const timer = set(() => {
        origins.delete(timer);
        run(...args);
      }, ms);
      const stack = new Error().stack ?? '';
      if (OWN.test(stack)) origins.set(timer, stack);
      return timer;
    },
    set,
  );
  globalThis.clearTimeout = (timer) => {
    origins.delete(timer);
    clear(timer);
  };
  return { clock, left: () => [...origins.values()] };
}
