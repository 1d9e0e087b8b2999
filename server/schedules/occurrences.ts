import type { Cron } from 'croner';
import { fieldError } from '../../shared/errors.js';
import type { ScheduleTimes } from '../../shared/schedules.js';

/** Instants that are counted one by one; of what was missed beyond that it is known that it was. */
const COUNTED = 10_000;
/** Instants that are looked for before others get their turn: one takes a tenth of a millisecond. */
const SLICE = 50;
/** Gaps of a cron expression that are looked at for one that is too short. */
const GAPS = 50;

/** The instants of a schedule, in milliseconds since the epoch. */
export interface Occurrences {
  /** The first one behind a time; null where there is none. */
  after(time: number): number | null;
  /** The last one that is not behind a time by which some have passed. */
  upTo(time: number): number;
}

/** What passed of a schedule by a time. */
export interface Passed {
  /** The last instants that are not behind that time, in order. */
  readonly last: readonly number[];
  /** How many there are from the first one on. */
  readonly count: number;
  /** The one after them; null where there is none. */
  readonly nextAt: number | null;
}

/**
 * The instants of a schedule.
 *
 * @param setAt From when a number of milliseconds counts
 * @throws GatewayError `INVALID_PARAMS` naming the field: a cron expression or a zone that there is not
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
  // Few gateways have schedules: the library is loaded with the first.
  const { Cron } = await import('croner');
  try {
    return new Cron(every, { timezone: zone, paused: true, mode: '5-or-6-parts' });
  } catch (cause) {
    throw fieldError('every', `no cron expression of five or six fields: ${(cause as Error).message}`);
  }
}

/**
 * What has passed by a time, from an instant on that has. Others get their turn meanwhile.
 *
 * @param kept How many of the last ones are named
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

/** The shortest time between two of the next instants. */
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
