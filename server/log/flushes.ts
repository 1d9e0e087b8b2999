import { rootContext } from '../async/async-context.js';

type Flush = () => void;

/** What is to be flushed once the present step of the event loop is done. */
let due: Flush[] = [];

/** Calls back at the end of the present step of the event loop, together with all others that asked for it, in nobody's context. */
export function flushSoon(flush: Flush): void {
  if (due.push(flush) === 1) process.nextTick(rootContext, flushDue);
}

function flushDue(): void {
  const flushes = due;
  due = [];
  flushAll(flushes);
}

/** Flushes one after the other. */
export function flushAll(flushes: readonly Flush[]): void {
  for (const flush of flushes) {
    try {
      flush();
    } catch (error) {
      // It goes uncaught, and holds up nobody else.
      process.nextTick(() => {
        throw error;
      });
    }
  }
}
