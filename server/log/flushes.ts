import { rootContext } from '../async/async-context.js';
import { inBurst } from '../async/burst.js';

/** Writes what a log has. */
export type Flush = () => void;

/** The flushes that run at the end of the present turn of the event loop. */
let requested: Flush[] = [];

/** Calls a flush at the end of the present turn of the event loop, together with all others requested in it, outside every async context. */
export function flushSoon(flush: Flush): void {
  if (requested.push(flush) === 1) setImmediate(rootContext, flushDue);
}

function flushDue(): void {
  const flushes = requested;
  requested = [];
  flushAll(flushes);
}

/** Flushes one after the other, and then has all sockets send. */
export function flushAll(flushes: readonly Flush[]): void {
  inBurst(() => {
    for (const flush of flushes) {
      try {
        flush();
      } catch (error) {
        // Throw it as an uncaught error, so that the other flushes still run.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  });
}
