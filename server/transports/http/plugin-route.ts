import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/gateway-error.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';

/** A request to a plugin's route. The gateway has checked its host and origin. */
export interface PluginRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path below the gateway's mount, including anything behind the route's path. */
  readonly path: string;
  /** The client's address, found according to `trustProxy`. */
  readonly address: string;
  /** Finds the caller's identity by the gateway's own authentication. @throws GatewayError `UNAUTHENTICATED` */
  authenticate(): Promise<Person>;
  /** The JSON body, within the gateway's bounds. @throws GatewayError */
  body(): Promise<unknown>;
}

/** How a plugin's route is served. */
export interface RouteOptions {
  /** HTTP methods of the route. The gateway answers others with 405, and preflights of listed origins itself. @default any */
  readonly methods?: readonly string[];
  /** Whether requests wait for the store to be open. @default true */
  readonly needsStore?: boolean;
  /** Request headers that browsers of listed origins may send, besides the gateway's own. */
  readonly requestHeaders?: readonly string[];
  /** Response headers that browsers of listed origins may read, besides the gateway's own. */
  readonly exposedHeaders?: readonly string[];
  /**
   * Answers with an error that the gateway met before the handler, or that the handler threw. Clients may see its text. The response may
   * have begun. @default the gateway's own form
   */
  readonly fail?: (error: GatewayError, response: ServerResponse) => void;
}

/** A route of a plugin. */
export interface PluginRoute {
  readonly handle: (request: PluginRequest) => MaybePromise<void>;
  readonly options: RouteOptions;
}

/** The routes of plugins. */
export interface PluginRoutes {
  /** The route of a path or of the nearest path above it. */
  find(path: string): PluginRoute | undefined;
}
