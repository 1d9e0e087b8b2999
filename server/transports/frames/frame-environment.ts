import type { ClientAddress } from '../../auth/client-address.js';
import type { Connections } from '../../delivery/connections.js';
import type { Report } from '../../diagnostics/log-facts.js';
import type { RequestGate } from '../../limits/address-gate.js';
import type { RateLimiter } from '../../limits/token-bucket.js';
import type { Operations } from '../../operations/operations.js';
import type { IdentityParts } from '../identify.js';
import type { OriginPolicy } from '../origin.js';
import type { SocketClients } from './socket-clients.js';

/** The parts of the gateway that doors with frames use. */
export interface FrameEnvironment extends IdentityParts {
  readonly operations: Operations;
  readonly connections: Connections;
  readonly clients: SocketClients;
  /** Bounds the number of sockets of one address. */
  readonly gate: RequestGate;
  readonly addressOf: ClientAddress;
  /** Limits the frames of a client that are no requests: malformed ones, pings and new tokens. */
  readonly chatter: RateLimiter;
  readonly origin: OriginPolicy;
  readonly limits: {
    readonly bodyBytes: number;
    readonly jsonDepth: number;
    readonly handshakeMs: number;
    readonly heartbeatMs: number;
    readonly slowClientMs: number;
  };
  readonly state: { readonly draining: boolean };
  /** Resolves once the store is open; null when it is. */
  ready(): Promise<void> | null;
  report: Report;
}
