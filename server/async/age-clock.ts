/** A wall clock may be this far ahead of the process's own before it is not believed. */
const TOLERANCE_MS = 60_000;

/**
 * Makes a clock by which things age, in milliseconds since the epoch. A wall clock that is set forward while the process runs does
 * not make anything older: what nobody has kept for its time must not be dropped for it.
 *
 * @param wall The wall clock. @default Date.now
 */
export function createAgeClock(wall: () => number = Date.now): () => number {
  const startedAt = wall() - performance.now();
  return () => Math.min(wall(), startedAt + performance.now() + TOLERANCE_MS);
}
