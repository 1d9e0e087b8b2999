import type { Cron } from 'croner';
import { fieldError } from '../../shared/errors.js';
import type { ScheduleTimes } from '../../shared/schedules.js';

/** Most missed instants that are counted one by one. The number of further ones stays unknown. */
const COUNTED = 10_000;
/** Instants computed before the loop yields. One takes a tenth of a millisecond. */
const SLICE = 50;
/** Gaps of a cron expression that are checked for one that is too short. */
const GAPS = 50;

/** The instants of a schedule, in milliseconds since the epoch. */
export interface Occurrences {
  /** The first instant after a time; null if there is none. */
  after(time: number): number | null;
  /** The last instant at or before a time, if some have passed by then. */
  upTo(time: number): number;
}

/** The passed instants of a schedule. */
export interface Passed {
  /** The last passed instants, in order. */
  readonly last: readonly number[];
  /** Number of passed instants from the first one on. */
  readonly count: number;
  /** The next instant; null if there is none. */
  readonly nextAt: number | null;
}

/**
 * The instants of a schedule.
 *
 * @param setAt Time from which a number of milliseconds counts
 * @throws GatewayError `INVALID_PARAMS` naming the field: an invalid cron expression or an unknown zone
 */
export async function occurrencesOf({ at, every, zone }: ScheduleTimes, setAt: number): Promise<Occurrences> {
  if (every === undefined) return { after: (time) => (at! > time ? at! : null), upTo: () => at! };
  if (typeof every !== 'string') {
    const { ms } = every;
    const upTo = (time: number): number => setAt + Math.floor(Math.max(0, time - setAt) / ms) * ms;
    return { after: (time) => upTo(time) + ms, upTo };
  }
  const cron = await cronOf(every, zone ?? 'UTC');
  return {
    after: (time) => cron.nextRun(new Date(time))?.getTime() ?? null,
    upTo: (time) => cron.previousRuns(1, new Date(time + 1))[0]!.getTime(),
  };
}

async function cronOf(every: string, zone: string): Promise<Cron> {
  try {
    Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw fieldError('zone', `there is no time zone ${JSON.stringify(zone)}`);
  }
  // Load the library with the first schedule: few gateways have any.
  const { Cron } = await import('croner');
  try {
    return new Cron(every, { timezone: zone, paused: true, mode: '5-or-6-parts' });
  } catch (cause) {
    throw fieldError('every', `must be a cron expression of five or six fields: ${(cause as Error).message}`);
  }
}

/**
 * The instants that have passed by a time, from a given passed instant on. Yields to other work meanwhile.
 *
 * @param kept Number of last instants to list
 */
export async function passedBy(
  occurrences: Occurrences,
  { first, time, kept }: { readonly first: number; readonly time: number; readonly kept: number },
): Promise<Passed> {
  const last = [first];
  for (let count = 1; count <= COUNTED; count++) {
    if (count % SLICE === 0) await new Promise(setImmediate);
    const next = occurrences.after(last.at(-1)!);
    if (next === null || next > time) return { last, count, nextAt: next };
    last.push(next);
    if (last.length > kept) last.shift();
  }
  return { last: [occurrences.upTo(time)], count: COUNTED, nextAt: occurrences.after(time) };
}

/** The shortest time between consecutive future instants, as far as they are checked. */
export function shortestGap(occurrences: Occurrences, from: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  let last = occurrences.after(from);
  for (let i = 0; i < GAPS && last !== null; i++) {
    const next = occurrences.after(last);
    if (next !== null) shortest = Math.min(shortest, next - last);
    last = next;
  }
  return shortest;
}
