import type { ExtraRoutes } from '../../../shared/calls.js';
import type { AppRegistry } from '../../apps/registry.js';
import type { ClientAddress } from '../../auth/client-address.js';
import type { Presence } from '../../auth/presence.js';
import type { Connections } from '../../delivery/connections.js';
import type { Ticker } from '../../delivery/ticker.js';
import type { Report } from '../../diagnostics/log-facts.js';
import type { RequestGate } from '../../limits/address-gate.js';
import type { OpenCalls } from '../../operations/open-calls.js';
import type { Operations } from '../../operations/operations.js';
import type { IdentityParts, TicketDoor } from '../identify.js';
import type { OriginPolicy } from '../origin.js';
import type { BodyLimits } from './body.js';
import type { PluginRoutes } from './plugin-route.js';
import type { UnreadAnswers } from './unread.js';

/** The parts of the gateway that the HTTP door uses. */
export interface HttpEnvironment extends IdentityParts, TicketDoor {
  readonly operations: Operations;
  readonly presence: Presence;
  /** Bounds the number of requests of one address. */
  readonly gate: RequestGate;
  readonly addressOf: ClientAddress;
  readonly connections: Connections;
  readonly calls: OpenCalls;
  readonly ticker: Ticker;
  readonly unread: UnreadAnswers;
  readonly apps: AppRegistry;
  readonly origin: OriginPolicy;
  readonly limits: BodyLimits & {
    readonly heartbeatMs: number;
    readonly slowClientMs: number;
    readonly streamMs: number;
  };
  readonly extraRoutes: ExtraRoutes;
  /** Whether readers are turned away because the event loop is very late. */
  readonly load: { readonly turnsAway: boolean };
  readonly state: { readonly draining: boolean; readonly awayAt: number | null };
  readonly plugins: PluginRoutes;
  /** Checks whether the gateway can take new work. */
  readonly readiness: { check(): Promise<void> };
  /** Resolves once the store is open; null when it is. */
  ready(): Promise<void> | null;
  report: Report;
}
