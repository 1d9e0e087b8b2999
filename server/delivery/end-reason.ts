/** Reason why the gateway ends a connection. All but `expired` ask the client to come back. */
export type EndReason = 'rotate' | 'drain' | 'slow' | 'expired' | 'interrupted';

/** Milliseconds until a client comes back: none after a rotation, spread out when all clients have to leave. */
const RETRY_MS: Readonly<Record<EndReason, readonly [number, number]>> = {
  rotate: [100, 1000],
  drain: [500, 5000],
  slow: [1000, 3000],
  expired: [1000, 3000],
  interrupted: [100, 1000],
};

/** Milliseconds after which the client of an ended connection should come back, with jitter. */
export function retryAfter(reason: EndReason): number {
  const [min, max] = RETRY_MS[reason];
  return Math.round(min + Math.random() * (max - min));
}
