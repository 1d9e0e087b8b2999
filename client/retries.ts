import type { GatewayError } from '../shared/gateway-error.js';
import { watchPage } from './page.js';
import { backoff, delay } from './timing.js';

/** The waits of a client between its attempts at calls and at streams of methods. */
export interface Retries {
  /**
   * Waits until the next attempt. After a failure of the network the wait ends at once when the network may be back. If the gateway itself refused,
   * the wait is as long as it says.
   *
   * @param tried Attempts before the one that failed.
   * @param onWait Receives a function that ends the wait.
   * @throws GatewayError `ABORTED` by the signal
   */
  wait(
    error: GatewayError,
    tried: number,
    signal: AbortSignal,
    onWait?: (now: () => void) => void,
  ): Promise<void>;
  /** The gateway can be reached. */
  hurry(): void;
}

export function createRetries(): Retries {
  const waiting = new Set<() => void>();
  let unwatchPage = () => {};
  const hurry = () => {
    for (const now of waiting) now();
  };
  return {
    hurry,
    wait: ({ code, retryAfterMs }, tried, signal, onWait) => {
      let end = () => {};
      return delay(backoff(tried, retryAfterMs), signal, (now) => {
        onWait?.(now);
        if (code !== 'NETWORK' && code !== 'TIMEOUT') return;
        if (waiting.size === 0) unwatchPage = watchPage({ changed: hurry, shown: hurry });
        waiting.add(now);
        end = () => {
          waiting.delete(now);
          if (waiting.size === 0) unwatchPage();
        };
      }).finally(() => end());
    },
  };
}
