import FakeTimers from '@sinonjs/fake-timers';
import { closeLater } from './resources.js';

/** Holds the time of day, and only that, until the test ends; the returned function lets milliseconds of it pass. */
export function holdWallClock(): (ms: number) => void {
  const clock = closeLater(FakeTimers.install({ now: Date.now(), toFake: ['Date'] }), (it) => it.uninstall());
  return (ms) => clock.setSystemTime(Date.now() + ms);
}

/** What is used in the same millisecond is in the order in which it began. */
export async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now; ) await new Promise(setImmediate);
}

/** Has so many milliseconds pass by the monotonic clock at once, until the test ends. Timers stay where they are. */
export function passMonotonic(ms: number): void {
  const { now } = performance;
  performance.now = () => now.call(performance) + ms;
  closeLater(performance, (it) => {
    it.now = now;
  });
}
