import { setTimeout as delay } from 'node:timers/promises';
import { isGatewayError } from 'agent-session-gateway/client';

/** A process that waits for a database looks so often whether it is free. */
const LOOK_MS = 100;

/** Starts something as soon as no other process uses its database. @param waits Called once, if one does. */
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
