import { GatewayError } from './gateway-error.js';

/** The wire protocol this build speaks. A gateway and a client meet at the highest version both support. */
export const PROTOCOL_VERSION = 1;

/** Inclusive range of protocol versions. */
export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

/** Every version this build can speak. */
export const PROTOCOL_RANGE: ProtocolRange = { min: 1, max: PROTOCOL_VERSION };

/**
 * Picks the highest version in both ranges.
 *
 * @throws GatewayError `PROTOCOL_VERSION_UNSUPPORTED` with our range in `details` when they do not meet.
 */
export function negotiateProtocol(theirs: ProtocolRange, ours: ProtocolRange = PROTOCOL_RANGE): number {
  const version = Math.min(theirs.max, ours.max);
  if (version >= theirs.min && version >= ours.min) return version;
  throw new GatewayError({
    code: 'PROTOCOL_VERSION_UNSUPPORTED',
    message: `The gateway speaks protocol ${ours.min} to ${ours.max}; the client offered ${theirs.min} to ${theirs.max}`,
    details: { supported: ours },
  });
}
