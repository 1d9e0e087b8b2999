/** All reasons why new work is refused. */
export const UNREADY_REASONS = [
  'starting',
  'lame-duck',
  'draining',
  'overloaded',
  'memory',
  'descriptors',
  'store-closed',
  'store-silent',
  'store-unwritable',
  'store-full',
  'clock',
  'plugin',
  'recovering',
] as const;

/** Reason why new work is refused, reported as `details.reason`. */
export type UnreadyReason = (typeof UNREADY_REASONS)[number];

/** Whether a gateway takes work, as of the last look: null if it does. */
export interface ReadyState {
  readonly reason: UnreadyReason | null;
  /** Time for which it has been so, in milliseconds. */
  readonly forMs: number;
}
