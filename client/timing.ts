import { GatewayError } from '../shared/gateway-error.js';

const BASE_MS = 250;
const CAP_MS = 30_000;
/** Longer timers would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A watchdog looks so often within its time. */
const LOOKS = 5;

/** Full-jitter back-off in milliseconds, never under what the gateway asked for, but for no more than a minute. */
export function backoff(attempt: number, floorMs = 0): number {
  return Math.max(Math.min(floorMs, 2 * CAP_MS), Math.random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/** A timer that keeps no Node process alive. */
export function quietTimer(ms: number, run: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
  (timer as { unref?(): void }).unref?.();
  return timer;
}

/**
 * Notices silence. It counts its own looks and reads no clock: neither a clock that is set nor a machine that slept makes it see
 * silence where there was none.
 */
export class Watchdog {
  readonly #expired: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silentLooks = 0;

  /** @param expired Called once, when nothing was heard for the time of `start`. */
  constructor(expired: () => void) {
    this.#expired = expired;
  }

  /** Begins, or begins anew, to wait for a sign of life every `ms`. */
  start(ms: number): void {
    this.stop();
    this.heard();
    const look = () => {
      this.#silentLooks += 1;
      if (this.#silentLooks >= LOOKS) this.#expired();
      else this.#timer = quietTimer(ms / LOOKS, look);
    };
    this.#timer = quietTimer(ms / LOOKS, look);
  }

  /** Whether something was heard lately. */
  get isCalm(): boolean {
    return this.#silentLooks < LOOKS / 2;
  }

  heard(): void {
    this.#silentLooks = 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** How to let go of what a client is waiting for. A set, because Node warns of more than ten listeners of one signal. */
export type Aborts = Set<() => void>;

/** The error of what was aborted. */
export function abortError(): GatewayError {
  return new GatewayError({ code: 'ABORTED', message: 'Aborted' });
}

/** Aborts for a reason, which the signals of React Native do not keep by themselves. */
export function abortWith(controller: AbortController, reason: unknown): void {
  const { signal } = controller;
  if (!signal.aborted && !('reason' in signal)) Object.assign(signal, { reason });
  controller.abort(reason);
}

/** A controller that aborts, with `ABORTED`, as the signal does or as one of `aborts`. `release` lets go of both. */
export function joinAborts(aborts: Aborts, signal: AbortSignal | undefined) {
  const joined = new AbortController();
  const abort = () => abortWith(joined, abortError());
  const release = () => {
    aborts.delete(abort);
    signal?.removeEventListener('abort', abort);
  };
  aborts.add(abort);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  return { joined, release };
}

/** Settles as the work does, or rejects with the signal's reason: the work may ignore the signal, or hang. */
export function raceSignal<T>(signal: AbortSignal, work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted);
    const release = () => signal.removeEventListener('abort', aborted);
    new Promise<T>((settle) => settle(work())).then(
      (value) => {
        release();
        resolve(value);
      },
      (error) => {
        release();
        reject(error);
      },
    );
  });
}

/** Waits until the time is over, or `hurry` calls what it is given. @throws GatewayError `ABORTED` */
export function delay(ms: number, signal: AbortSignal, hurry?: (now: () => void) => void): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return raceSignal(
    signal,
    () =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
        hurry?.(resolve);
      }),
  ).finally(() => clearTimeout(timer));
}
