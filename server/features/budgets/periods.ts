import type { Budget } from '../../../shared/budgets/options.js';

/** The period of a budget at a time. */
export interface Period {
  /** Names it among those of its budget. */
  readonly key: string;
  /** Its end, in milliseconds since the epoch; null if it has none that is known. */
  readonly until: number | null;
}

const EVER: Period = { key: 'ever', until: null };
const HOUR_MS = 3_600_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day of a time in a zone, as `2026-11-28`. */
export function dayIn(zone: string, time: number): string {
  // Many times cheaper.
  if (zone === 'UTC' && time >= 0) return new Date(time).toISOString().split('T')[0]!;
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en', {
      ...{ timeZone: zone, calendar: 'iso8601', numberingSystem: 'latn' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
  return `${parts.get('year')!.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
}

/** The day or month in which a time is, and the first moment of the next one. */
export function calendarPeriod(
  unit: 'day' | 'month',
  zone: string,
  time: number,
): Period & { until: number } {
  const keyAt = (at: number): string =>
    unit === 'day' ? dayIn(zone, at) : dayIn(zone, at).replace(/-\d\d$/, '');
  const key = keyAt(time);
  // No day has more than 26 hours, no month more than 31 of them.
  let within = time;
  let beyond = time + (unit === 'day' ? 26 : 31 * 24 + 26) * HOUR_MS;
  while (beyond - within > 1) {
    const middle = Math.floor((within + beyond) / 2);
    if (keyAt(middle) === key) within = middle;
    else beyond = middle;
  }
  return { key, until: beyond };
}

/** Periods that were found last, each with the earliest time that it was found for. */
const found = new Map<string, Period & { readonly until: number; readonly from: number }>();

/** The period of a budget at a time of the store's clock. @param runId The run at the root of the tree */
export function periodAt({ period, zone = 'UTC' }: Budget, time: number, runId: string): Period {
  if (period === 'run') return { key: runId, until: null };
  if (period === 'ever') return EVER;
  const name = `${period} ${zone}`;
  const last = found.get(name);
  if (last && time >= last.from && time < last.until) return last;
  const now = { ...calendarPeriod(period, zone, time), from: time };
  found.set(name, now);
  return now;
}
