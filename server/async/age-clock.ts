/** Milliseconds that the wall clock may run ahead of the process's own clock before it is distrusted. */
const TOLERANCE_MS = 60_000;

/**
 * Makes a clock for ageing, in milliseconds since the epoch. Setting the wall clock forward while the process runs does not age anything,
 * so that retention drops nothing too early.
 *
 * @param wall The wall clock. @default Date.now
 */
export function createAgeClock(wall: () => number = Date.now): () => number {
  const startedAt = wall() - performance.now();
  return () => Math.min(wall(), startedAt + performance.now() + TOLERANCE_MS);
}
