import { GatewayError, isGatewayError } from '../shared/gateway-error.js';

const BASE_MS = 250;
const CAP_MS = 30_000;
/** Longer timers would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The number of checks of a watchdog within its time. */
const LOOKS = 5;
/** Silence of this many heartbeats counts as a cut. */
const SILENT_HEARTBEATS = 2.5;
/** A link that falls silent again at the same place gets more time, up to this factor, since a big event may be on its way. */
const MOST_PATIENCE = 16;

/** Full-jitter back-off in milliseconds. It is never under the gateway's wait, which counts up to a minute. */
export function backoff(attempt: number, floorMs = 0): number {
  return Math.max(Math.min(floorMs, 2 * CAP_MS), Math.random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/** A timer that keeps no Node process alive. */
export function quietTimer(ms: number, run: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
  (timer as { unref?(): void }).unref?.();
  return timer;
}

/** The factor by which a connection may be silent for longer than usual. It outlives the connections that it is about. */
export interface Patience {
  times: number;
}

/** Notices silence. */
export interface Watchdog {
  /** Waits from now on for a sign of life within `ms`. */
  start(ms: number): void;
  /** Waits from now on for a heartbeat every `heartbeatMs`, multiplied by the patience. */
  expect(heartbeatMs: number): void;
  heard(): void;
  /** A heartbeat came. Returns whether it proves that the connection works: the first one comes at once and proves little. */
  beat(): boolean;
  /** The connection brings something: resets the patience. */
  works(): void;
  /** Whether something was heard lately. */
  isCalm(): boolean;
  stop(): void;
}

/**
 * Makes a watchdog. It counts its own checks and reads no clock, so that neither a changed clock nor a sleeping machine looks like silence.
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

/** Functions that end pending work of a client. A set, because Node warns of more than ten listeners of one signal. */
export type Aborts = Set<() => void>;

/** The error of aborted work. */
export function abortError(): GatewayError {
  return new GatewayError({ code: 'ABORTED', message: 'Aborted' });
}

/** The callbacks of each signal, which has one listener for all of them: Node warns of more than ten. */
const callbacks = new WeakMap<EventTarget, Aborts>();

const tell = ({ target }: Event) => {
  for (const each of callbacks.get(target!) ?? []) each();
};

/** Calls back when a signal aborts, at once if it already has. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (!signal || signal.aborted) {
    if (signal) run();
    return () => {};
  }
  const own = () => run();
  const all = callbacks.get(signal) ?? new Set();
  callbacks.set(signal, all.add(own));
  // A listener that a signal has already is not added again.
  signal.addEventListener('abort', tell);
  return () => {
    all.delete(own);
    if (all.size === 0) signal.removeEventListener('abort', tell);
  };
}

/** Aborts with a reason, which the signals of React Native do not keep by themselves. */
export function abortWith(controller: AbortController, reason: unknown): void {
  const { signal } = controller;
  if (!signal.aborted && !('reason' in signal)) Object.assign(signal, { reason });
  controller.abort(reason);
}

/** Work that ends early: by the signal that it was begun with, by `disconnect()`, or at its time limit. */
export interface Scope {
  readonly signal: AbortSignal;
  /** Ends the work. @param reason The error that it rejects with. @default `ABORTED` */
  abort(reason?: GatewayError): void;
  /** Ends the work with an error at its time limit. Returns a function that lifts the limit. */
  limit(ms: number, late: () => GatewayError): () => void;
  /** The work is over: lets go of everything. */
  release(): void;
}

/** Begins a scope. @param aborts Receives a function that ends it. */
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

/** Settles as the work does, or rejects with the signal's reason, since the work may ignore the signal or hang. */
export function raceSignal<T>(signal: AbortSignal, work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason));
    if (!signal.aborted) new Promise<T>((settle) => settle(work())).finally(release).then(resolve, reject);
  });
}

/** Does work within its scope, and then releases the scope. */
export function within<T>({ signal, release }: Scope, work: () => T | PromiseLike<T>): Promise<T> {
  return raceSignal(signal, work).finally(release);
}

/** Does work, which fails with the given error at its time limit. */
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

/** Waits until the time is over, or until `hurry` calls the function that it is given. @throws GatewayError `ABORTED` */
export function delay(ms: number, signal: AbortSignal, hurry?: (now: () => void) => void): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      hurry?.(resolve);
    });
  return raceSignal(signal, wait).finally(() => clearTimeout(timer));
}
