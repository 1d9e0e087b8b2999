import type { AppRegistry } from '../../apps/registry.js';
import type { Authenticator } from '../../auth/authenticate.js';
import type { Tickets } from '../../auth/tickets.js';
import type { Connections } from '../../delivery/connections.js';
import type { Ticker } from '../../delivery/ticker.js';
import type { OpenCalls } from '../../operations/open-calls.js';
import type { Operations } from '../../operations/operations.js';
import type { PluginHost } from '../../plugins/plugin-host.js';
import type { OriginPolicy } from '../origin.js';
import type { BodyLimits } from './body.js';
import type { ExtraRoutes } from './routes.js';
import type { UnreadAnswers } from './unread.js';

/** What the HTTP door works with. */
export interface HttpEnvironment {
  readonly operations: Operations;
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
  readonly connections: Connections;
  readonly calls: OpenCalls;
  readonly ticker: Ticker;
  readonly unread: UnreadAnswers;
  readonly apps: AppRegistry;
  readonly origin: OriginPolicy;
  /** Whether requests that carry only cookies may be authenticated. */
  readonly cookies: boolean;
  readonly limits: BodyLimits & {
    readonly heartbeatMs: number;
    readonly slowClientMs: number;
    readonly streamMs: number;
  };
  readonly extraRoutes: ExtraRoutes;
  readonly state: { readonly draining: boolean };
  readonly plugins: PluginHost;
  /** Resolves once the store is open; null when it is. */
  ready(): Promise<void> | null;
  report(error: unknown, what: string): void;
}
