import type { Cron } from 'croner';
import { fieldError } from '../../../shared/errors.js';
import type { ScheduleTimes } from '../../../shared/schedules/contract.js';
import { nextTurn } from '../../async/turn.js';

/** Most missed instants that are counted one by one. The number of further ones stays unknown. */
const COUNTED = 100;
/** Gaps of a cron expression that are checked for one that is too short, and the time that they may be ahead, in milliseconds. */
const GAPS = 50;
const AHEAD_MS = 5 * 366 * 24 * 60 * 60_000;
/**
 * Years in which a cron expression is looked for, to both sides of a time: as far as two Mondays that are a leap day may be apart. The library alone
 * would look through a thousand years.
 */
const YEARS = 40;

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
  const cronAt = await cronOf(every, zone ?? 'UTC');
  // Wrong fields are found before the first instant is asked for.
  cronAt(setAt);
  return {
    after: (time) => cronAt(time).nextRun(new Date(time))?.getTime() ?? null,
    upTo: (time) =>
      cronAt(time)
        .previousRuns(1, new Date(time + 1))[0]!
        .getTime(),
  };
}

/** Reads a cron expression. The returned function gives the part of it that is around a time. */
async function cronOf(every: string, zone: string): Promise<(time: number) => Cron> {
  const fields = every.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6)
    throw fieldError('every', 'must be a cron expression of five or six fields');
  try {
    Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw fieldError('zone', `there is no time zone ${JSON.stringify(zone)}`);
  }
  // Load the library with the first schedule: few gateways have any.
  const { Cron } = await import('croner');
  const pattern = fields.length === 5 ? ['0', ...fields] : fields;
  let found: { readonly year: number; readonly cron: Cron } | undefined;
  return (time) => {
    const year = new Date(time).getUTCFullYear();
    if (found?.year === year) return found.cron;
    const years = `${Math.max(1, year - YEARS)}-${Math.min(9999, year + YEARS)}`;
    try {
      const cron = new Cron([...pattern, years].join(' '), { timezone: zone, paused: true, mode: '7-part' });
      found = { year, cron };
      return cron;
    } catch (cause) {
      throw fieldError(
        'every',
        `must be a cron expression of five or six fields: ${(cause as Error).message}`,
      );
    }
  };
}

/**
 * The instants that have passed by a time, from a given passed instant on. Counts only so many of them. Yields to other work meanwhile.
 *
 * @param kept Number of last instants to list
 */
export async function passedBy(
  occurrences: Occurrences,
  { first, time, kept }: { readonly first: number; readonly time: number; readonly kept: number },
): Promise<Passed> {
  const last = [first];
  for (let count = 1; count <= COUNTED; count++) {
    const next = occurrences.after(last.at(-1)!);
    if (next === null || next > time) return { last, count, nextAt: next };
    last.push(next);
    if (last.length > kept) last.shift();
    await nextTurn();
  }
  const latest = [occurrences.upTo(time)];
  while (latest.length < kept) {
    await nextTurn();
    latest.unshift(occurrences.upTo(latest[0]! - 1));
  }
  return { last: latest, count: COUNTED, nextAt: occurrences.after(time) };
}

/** The shortest time between consecutive future instants, as far as they are checked. Yields to other work meanwhile. */
export async function shortestGap(occurrences: Occurrences, from: number): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  let last = occurrences.after(from);
  for (let i = 0; i < GAPS && last !== null && last < from + AHEAD_MS; i++) {
    await nextTurn();
    const next = occurrences.after(last);
    if (next !== null) shortest = Math.min(shortest, next - last);
    last = next;
  }
  return shortest;
}
