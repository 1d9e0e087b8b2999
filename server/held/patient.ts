import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { LiveRun } from '../runs/live-run.js';
import { StoreError } from '../stores/append.js';
import type { HeldSession } from './held-session.js';

/** Waits between two reads, in milliseconds: the first, and the longest. */
const AGAIN_MS = { least: 50, most: 2000 };

/** Reads what a run needs before its app begins. See `readAgain`. */
export function readPatiently<Result>(
  held: HeldSession,
  run: LiveRun,
  read: () => MaybePromise<Result>,
): MaybePromise<Result> {
  const first = read();
  return isPromise(first) ? readAgain(held, run, read, first) : first;
}

/**
 * Reads what a run needs again, while the store can't be read, for `limits.runMs` at most.
 *
 * @param first The first reading
 * @throws what the last read threw, also once the run is not active here any more
 */
export async function readAgain<Result>(
  held: HeldSession,
  run: LiveRun,
  read: () => MaybePromise<Result>,
  first: Promise<Result>,
): Promise<Result> {
  const until = performance.now() + held.env.limits.runMs;
  let reading: MaybePromise<Result> = first;
  for (let ms = AGAIN_MS.least; ; ms = Math.min(AGAIN_MS.most, 2 * ms)) {
    try {
      return await reading;
    } catch (error) {
      const isWanted = run.state === 'active' && !held.over && performance.now() < until;
      if (!isWanted || !isAway(error)) throw error;
      if (reading === first) report(held, run, error);
    }
    await delay(ms * (0.5 + Math.random()));
    reading = read();
  }
}

/** Whether a read may succeed later. */
const isAway = (error: unknown): boolean =>
  error instanceof StoreError
    ? error.code !== 'REFUSED'
    : isGatewayError(error) && error.code === 'OVERLOADED';

/** Fails a run whose conversation can't be read, as if its app had failed, unless it is over here. */
export function endUnread(held: HeldSession, run: LiveRun, error: unknown): void {
  if (run.state !== 'active' || held.over) return;
  report(held, run, error);
  const { code, message } = new GatewayError({ code: 'OVERLOADED' });
  held.runs.end(run, { stopReason: 'error', error: { code, message } });
}

const report = ({ env, id, runs }: HeldSession, run: LiveRun, error: unknown): void =>
  env.report(error, `reading what a run of session ${id} needs`, runs.about(run));
