import type { ClientAddress } from '../../auth/client-address.js';
import type { Connections } from '../../delivery/connections.js';
import type { Report } from '../../diagnostics/log-facts.js';
import type { RequestGate } from '../../limits/address-gate.js';
import type { RateLimiter } from '../../limits/token-bucket.js';
import type { Operations } from '../../operations/operations.js';
import type { Identifying } from '../identify.js';
import type { OriginPolicy } from '../origin.js';
import type { SocketClients } from './socket-clients.js';

/** What the doors that speak frames work with. */
export interface FrameEnvironment extends Identifying {
  readonly operations: Operations;
  readonly connections: Connections;
  readonly clients: SocketClients;
  /** Lets sockets of one address in, up to a number. */
  readonly gate: RequestGate;
  readonly addressOf: ClientAddress;
  /** Counts the frames of a client that ask for nothing: malformed ones, pings and new tokens. */
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
