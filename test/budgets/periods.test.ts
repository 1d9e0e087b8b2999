import { expect } from 'chai';
import fc from 'fast-check';
import { calendarPeriod, dayIn } from '../../server/features/budgets/periods.js';
import { cases, SEED } from '../support/fuzz.js';

// Summer time that begins at midnight, by half an hour, at two o'clock; none; and a day that was left out.
const ZONES = [
  'Europe/Rome',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Kolkata',
];
const MINUTE = 60_000;

/** The local dates, by another way of the platform: as Swedes write them, which is as ISO does. */
const FORMATS = new Map(
  ZONES.map((timeZone) => [timeZone, new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })]),
);

const dayOf = (zone: string, time: number): string => FORMATS.get(zone)!.format(time);

/** The first minute after a time whose day or month is another one, found minute by minute in the last days. */
function oracle(unit: 'day' | 'month', zone: string, time: number): number {
  const name = (at: number): string =>
    unit === 'day' ? dayOf(zone, at) : dayOf(zone, at).replace(/-..$/, '');
  const now = name(time);
  let at = Math.floor(time / MINUTE) * MINUTE + MINUTE;
  // Hours are safe to leap over while it is the same half a day later.
  while (name(at + 12 * 60 * MINUTE) === now) at += 60 * MINUTE;
  while (name(at) === now) at += MINUTE;
  return at;
}

const times = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2031, 0, 1) });

describe('the periods of budgets', () => {
  it('begin and end with the days and months of their zone, over summer time too', () => {
    fc.assert(
      fc.property(
        times,
        fc.constantFrom(...ZONES),
        fc.constantFrom('day' as const, 'month' as const),
        (time, zone, unit) => {
          const { key, until } = calendarPeriod(unit, zone, time);
          const day = dayOf(zone, time);
          expect(key).to.equal(unit === 'day' ? day : day.replace(/-..$/, ''));
          expect(until).to.equal(oracle(unit, zone, time));
          const next = calendarPeriod(unit, zone, until);
          expect(next.key > key).to.equal(true);
          expect(calendarPeriod(unit, zone, until - 1).key).to.equal(key);
        },
      ),
      { numRuns: cases(40), seed: SEED },
    );
  });

  it('have the hours of the days on which summer time begins and ends', () => {
    const hours = (zone: string, day: string): number => {
      const inside = Date.parse(`${day}T12:00:00Z`);
      const { until } = calendarPeriod('day', zone, inside);
      const before = calendarPeriod('day', zone, inside - 24 * 60 * MINUTE).until;
      return (until - before) / (60 * MINUTE);
    };
    expect(hours('Europe/Rome', '2026-03-29')).to.equal(23);
    expect(hours('Europe/Rome', '2026-10-25')).to.equal(25);
    expect(hours('America/New_York', '2026-11-01')).to.equal(25);
    expect(hours('Australia/Lord_Howe', '2026-10-04')).to.equal(23.5);
    expect(hours('UTC', '2026-03-29')).to.equal(24);
  });

  it('names a day of a leap year', () => {
    expect(dayIn('UTC', Date.UTC(2028, 1, 29, 12))).to.equal('2028-02-29');
  });
});
