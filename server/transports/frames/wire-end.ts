import type { GatewayError } from '../../../shared/errors.js';
import type { EndReason } from '../../delivery/connection.js';

/** Why a socket is closed: a close code of WebSockets (RFC 6455, section 7.4) and a word for it. */
export interface WireEnd {
  readonly code: number;
  readonly reason: string;
}

const BY_REASON: Readonly<Record<EndReason, WireEnd>> = {
  drain: { code: 1001, reason: 'SHUTTING_DOWN' },
  rotate: { code: 1012, reason: 'ROTATE' },
  interrupted: { code: 1012, reason: 'INTERRUPTED' },
  slow: { code: 4008, reason: 'SLOW' },
  expired: { code: 4401, reason: 'UNAUTHENTICATED' },
};

/** How a connection is closed that the gateway ends. */
export function endOf(reason: EndReason): WireEnd {
  return BY_REASON[reason];
}

const BY_STATUS: Readonly<Record<number, number>> = { 401: 4401, 413: 1009, 429: 1013, 500: 1011, 503: 1001 };

/** How a socket is closed that is refused, or misbehaved. */
export function endFor(error: GatewayError): WireEnd {
  return { code: BY_STATUS[error.status] ?? 4001, reason: error.code };
}

/** The sender of too many frames that ask for nothing. */
export const FLOODED: WireEnd = { code: 1008, reason: 'RATE_LIMITED' };
