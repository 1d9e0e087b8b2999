import { setTimeout as delay } from 'node:timers/promises';
import { isGatewayError } from 'agent-session-gateway/client';

/** Interval of checks whether a database is free, in milliseconds. */
const LOOK_MS = 100;

/** Calls `start` as soon as no other process uses its database. @param waits Called once, if a process uses it. */
export async function whenFree<T>(start: () => Promise<T>, waits: () => void = () => {}): Promise<T> {
  for (let looks = 0; ; looks++) {
    try {
      return await start();
    } catch (error) {
      if (!isGatewayError(error) || reasonOf(error) !== 'locked') throw error;
      if (looks === 0) waits();
      await delay(LOOK_MS);
    }
  }
}

function reasonOf({ details }: { readonly details?: unknown }): unknown {
  return (details as { readonly reason?: unknown } | undefined)?.reason;
}
