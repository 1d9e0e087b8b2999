/** Wall time of an instant in a zone, as minutes since the epoch of a clock that has no zone. */
function wallMinutes(instant: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  }).formatToParts(instant);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)!.value);
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute')) / 60_000;
}

/**
 * The first instant of a day at which a clock in a zone shows a time, or has passed it: where summer time begins, the clock does not show
 * all of them. Found by looking at the clock, and not by anybody's arithmetic of zones.
 */
function instantOn(day: number, minutes: number, zone: string): number {
  const wanted = day / 60_000 + minutes;
  // No zone is farther from UTC.
  for (let at = day + minutes * 60_000 - 15 * 3_600_000; ; at += 15 * 60_000) {
    if (wallMinutes(at, zone) < wanted) continue;
    // The quarter of an hour before it is looked at by the minute.
    for (let exact = at - 15 * 60_000; ; exact += 60_000)
      if (wallMinutes(exact, zone) >= wanted) return exact;
  }
}

/** All instants of "each Sunday at a time of a zone" in a span, the first one left out: on Sundays summer time begins and ends. */
export function sundaysAt(hour: number, minute: number, zone: string, from: number, to: number): number[] {
  const day = 86_400_000;
  const instants: number[] = [];
  for (let date = Math.floor(from / day) * day - day; date <= to + day; date += day) {
    if (new Date(date).getUTCDay() !== 0) continue;
    const at = instantOn(date, hour * 60 + minute, zone);
    if (at > from && at <= to) instants.push(at);
  }
  return instants;
}
