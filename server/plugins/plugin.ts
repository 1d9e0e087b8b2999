import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../auth/types.js';
import type { MaybePromise } from '../maybe-promise.js';

/** A request to a plugin's route. The gateway has checked its host and origin. */
export interface PluginRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path below the mount, with what follows the route's path. */
  readonly path: string;
  /** Who calls, by the gateway's own authentication. @throws GatewayError `UNAUTHENTICATED` */
  authenticate(): Promise<Identity>;
  /** The JSON body, within the gateway's bounds. @throws GatewayError */
  body(): Promise<unknown>;
}

/** All that a plugin sees of its gateway. */
export interface PluginContext {
  readonly gatewayId: string;
  /** Serves a path and everything below it. @throws GatewayError `INVALID_REQUEST` when the path is taken */
  route(path: string, handle: (request: PluginRequest) => MaybePromise<void>): void;
  report(error: unknown, what: string): void;
}

/** An extension of a gateway. */
export interface GatewayPlugin {
  readonly name: string;
  /** Called once, by `use`. */
  setup(context: PluginContext): void;
  /** Called when the gateway has started. */
  start?(): MaybePromise<void>;
  /** Called when the gateway closes. */
  destroy?(): MaybePromise<void>;
}
