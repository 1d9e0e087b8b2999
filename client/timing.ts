import { GatewayError, isGatewayError } from '../shared/gateway-error.js';

const BASE_MS = 250;
const CAP_MS = 30_000;
/** Longer timers would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A watchdog looks so often within its time. */
const LOOKS = 5;
/** Silence of this many heartbeats counts as a cut. */
const SILENT_HEARTBEATS = 2.5;
/** What is silent again at the same place is given more time, up to so many times as much: a big event may be on its way. */
const MOST_PATIENCE = 16;

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

/** How many times as long as usual a connection may be silent. Outlives the connections it is about. */
export interface Patience {
  times: number;
}

/** Notices silence. */
export interface Watchdog {
  /** Waits from now on for a sign of life within `ms`. */
  start(ms: number): void;
  /** Waits from now on for a heartbeat every `heartbeatMs`, as long as patience tells. */
  expect(heartbeatMs: number): void;
  heard(): void;
  /** A heartbeat came. Returns whether it shows that the connection works: the first comes at once and says little. */
  beat(): boolean;
  /** The connection brings something: patience is over. */
  works(): void;
  /** Whether something was heard lately. */
  isCalm(): boolean;
  stop(): void;
}

/**
 * Makes what notices silence. It counts its own looks and reads no clock: neither a clock that is set nor a machine that slept makes it
 * see silence where there was none.
 *
 * @param expired Called once, when nothing was heard for the time.
 */
export function createWatchdog(expired: () => void, patience: Patience = { times: 1 }): Watchdog {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silentLooks = 0;
  let expectedMs = 0;
  let beats = 0;
  const heard = () => {
    silentLooks = 0;
  };
  const stop = () => {
    clearTimeout(timer);
    expectedMs = 0;
  };
  const start = (ms: number) => {
    stop();
    heard();
    const look = () => {
      silentLooks += 1;
      if (silentLooks < LOOKS) return wait();
      if (expectedMs) patience.times = Math.min(patience.times * 2, MOST_PATIENCE);
      expired();
    };
    const wait = () => {
      timer = quietTimer(ms / LOOKS, look);
    };
    wait();
  };
  const expect = (heartbeatMs: number) => {
    start(heartbeatMs * SILENT_HEARTBEATS * patience.times);
    expectedMs = heartbeatMs;
  };
  return {
    start: (ms) => {
      beats = 0;
      start(ms);
    },
    expect,
    heard,
    beat: () => ++beats > 1,
    works: () => {
      const wasPatient = patience.times > 1;
      patience.times = 1;
      if (wasPatient && expectedMs) expect(expectedMs);
    },
    isCalm: () => silentLooks < LOOKS / 2,
    stop,
  };
}

/** How to let go of what a client is waiting for. A set, because Node warns of more than ten listeners of one signal. */
export type Aborts = Set<() => void>;

/** The error of what was aborted. */
export function abortError(): GatewayError {
  return new GatewayError({ code: 'ABORTED', message: 'Aborted' });
}

/** Calls back when a signal aborts, at once if it has. Returns what keeps it from that. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  signal?.addEventListener('abort', run);
  if (signal?.aborted) run();
  return () => signal?.removeEventListener('abort', run);
}

/** Aborts for a reason, which the signals of React Native do not keep by themselves. */
export function abortWith(controller: AbortController, reason: unknown): void {
  const { signal } = controller;
  if (!signal.aborted && !('reason' in signal)) Object.assign(signal, { reason });
  controller.abort(reason);
}

/** Work that ends early: with the signal it was begun with, with `disconnect()`, or when its time is over. */
export interface Scope {
  readonly signal: AbortSignal;
  /** Ends it. @param reason What it rejects with. @default the `ABORTED` of whoever began it */
  abort(reason?: GatewayError): void;
  /** Ends it with an error when its time is over. Returns what lifts that. */
  limit(ms: number, late: () => GatewayError): () => void;
  /** It is over: lets go of everything. */
  release(): void;
}

/** Begins such work. @param aborts Gets what ends it. */
export function openScope(parent?: AbortSignal, aborts?: Aborts): Scope {
  const own = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = (reason: unknown) => abortWith(own, isGatewayError(reason) ? reason : abortError());
  const leave = () => abort(parent?.reason);
  const unlisten = onAbort(parent, leave);
  aborts?.add(leave);
  return {
    signal: own.signal,
    abort,
    limit: (ms, late) => {
      timer = quietTimer(ms, () => abort(late()));
      return () => clearTimeout(timer);
    },
    release: () => {
      clearTimeout(timer);
      aborts?.delete(leave);
      unlisten();
    },
  };
}

/** Settles as the work does, or rejects with the signal's reason: the work may ignore the signal, or hang. */
export function raceSignal<T>(signal: AbortSignal, work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason));
    if (!signal.aborted) new Promise<T>((settle) => settle(work())).finally(release).then(resolve, reject);
  });
}

/** Does the work within its scope, and releases that. */
export function within<T>({ signal, release }: Scope, work: () => T | PromiseLike<T>): Promise<T> {
  return raceSignal(signal, work).finally(release);
}

/** Does the work, which fails with an error of its own when its time is over. */
export function inTime<T>(
  ms: number,
  late: () => GatewayError,
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  parent?: AbortSignal,
): Promise<T> {
  const scope = openScope(parent);
  scope.limit(ms, late);
  return within(scope, () => work(scope.signal));
}

/** Waits until the time is over, or `hurry` calls what it is given. @throws GatewayError `ABORTED` */
export function delay(ms: number, signal: AbortSignal, hurry?: (now: () => void) => void): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      hurry?.(resolve);
    });
  return raceSignal(signal, wait).finally(() => clearTimeout(timer));
}
