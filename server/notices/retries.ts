const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses between attempts: some 24 hours together. */
const PAUSES_MS = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  ...[HOUR, 3 * HOUR, 7 * HOUR, 12 * HOUR],
];

/** Attempts to tell a target before its delivery is given up. */
export const ATTEMPTS = PAUSES_MS.length + 1;

/** The pause after so many failed attempts, give or take a tenth, in milliseconds; null if the delivery is given up. */
export function pauseAfter(attempts: number): number | null {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? null : Math.round(pause * (0.9 + Math.random() * 0.2));
}
