import { GatewayError } from '../shared/errors.js';

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

/** A controller that aborts, with `ABORTED`, as soon as one of the signals does. `release` lets go of them. */
export function joinSignals(signals: readonly (AbortSignal | undefined)[]) {
  const joined = new AbortController();
  const abort = () => joined.abort(new GatewayError({ code: 'ABORTED' }));
  for (const signal of signals) {
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
  }
  const release = () => {
    for (const signal of signals) signal?.removeEventListener('abort', abort);
  };
  return { joined, signal: joined.signal, release };
}

/** Waits; ends early when a signal aborts. */
export function delay(ms: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const { signal, release } = joinSignals(signals);
    const wake = () => {
      clearTimeout(timer);
      release();
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
  });
}
