/** Reason why the gateway ends a connection. All but `expired` ask the client to come back. */
export type EndReason = 'rotate' | 'drain' | 'away' | 'slow' | 'expired' | 'interrupted';

/** Longest time until a client comes back while the store is away, in milliseconds. */
const AWAY_MOST_MS = 30_000;

/** Milliseconds until a client comes back: none after a rotation, spread out when all clients have to leave. */
const RETRY_MS: Readonly<Record<EndReason, readonly [number, number]>> = {
  rotate: [100, 1000],
  drain: [500, 5000],
  away: [500, 5000],
  slow: [1000, 3000],
  expired: [1000, 3000],
  interrupted: [100, 1000],
};

/**
 * Milliseconds after which the client of an ended connection should come back, with jitter.
 *
 * @param forMs Time for which the reason has held. Clients of a store that stays away come back later and later.
 */
export function retryAfter(reason: EndReason, forMs = 0): number {
  const [least, most] = RETRY_MS[reason];
  const max = reason === 'away' ? Math.min(Math.max(most, forMs), AWAY_MOST_MS) : most;
  const min = reason === 'away' ? Math.max(least, max / 2 - most / 2) : least;
  return Math.round(min + Math.random() * (max - min));
}
