import { GatewayError } from '../shared/gateway-error.js';

const BASE_MS = 250;
const CAP_MS = 30_000;

/** Full-jitter back-off in milliseconds, never under what the gateway asked for. */
export function backoff(attempt: number, floorMs = 0): number {
  return Math.max(floorMs, Math.random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/** A timer that keeps no Node process alive. */
export function quietTimer(ms: number, run: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, ms);
  (timer as { unref?(): void }).unref?.();
  return timer;
}

/** How to let go of what a client is waiting for. A set, because Node warns of more than ten listeners of one signal. */
export type Aborts = Set<() => void>;

/** A controller that aborts, with `ABORTED`, as the signal does or as one of `aborts`. `release` lets go of both. */
export function joinAborts(aborts: Aborts, signal: AbortSignal | undefined) {
  const joined = new AbortController();
  const abort = () => joined.abort(new GatewayError({ code: 'ABORTED', message: 'Aborted' }));
  const release = () => {
    aborts.delete(abort);
    signal?.removeEventListener('abort', abort);
  };
  aborts.add(abort);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  return { joined, release };
}

/** Waits. @throws GatewayError `ABORTED` */
export function delay(ms: number, aborts: Aborts, given: AbortSignal | undefined): Promise<void> {
  const { joined, release } = joinAborts(aborts, given);
  const { signal } = joined;
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  }).finally(release);
}
