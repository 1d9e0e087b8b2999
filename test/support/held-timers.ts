import FakeTimers, { type Clock } from '@sinonjs/fake-timers';
import { closeLater } from './resources.js';

/** Timers that a test lets run when it wants. */
export interface HeldTimers {
  readonly clock: Clock;
  /**
   * Where a folder of the product set the timers that have not run yet. Others that live in this process, as sockets that an earlier test
   * left to close, set timers too: they are not among them.
   */
  left(folder: string): string[];
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
      origins.set(timer, new Error().stack ?? '');
      return timer;
    },
    set,
  );
  globalThis.clearTimeout = (timer) => {
    origins.delete(timer);
    clear(timer);
  };
  const left = (folder: string): string[] => {
    const own = new RegExp(`(?<!/test)/${folder}/`);
    return [...origins.values()].filter((stack) => own.test(stack));
  };
  return { clock, left };
}
