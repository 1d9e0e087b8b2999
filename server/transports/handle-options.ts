import type { OperationName } from '../../shared/operations.js';
import type { UserLike } from '../auth/types.js';

/** How a host hands a request over. */
export interface HandleOptions {
  /**
   * The user, where the host has authenticated the request itself. Null says that it looked and found none: then the gateway's `auth`
   * decides, and where that lets everybody in the request is refused.
   */
  readonly user?: UserLike | null | undefined;
  /** Path below which the gateway is mounted, for hosts that strip nothing. */
  readonly basePath?: string | undefined;
  /** The JSON body, where the host has parsed it and keeps it apart from Node's request (Fastify, `fetch` hosts). */
  readonly body?: unknown;
}

/** How a host has one operation served, whatever the request's path. */
export interface OperationOptions extends Omit<HandleOptions, 'basePath'> {
  /**
   * The params, made by the host; then the request's method is the host's choice too. Without them they are the query or the JSON
   * body, as on the operation's own route.
   */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** What can be served by itself: an operation, or the stream of events. */
export type ServedOperation = OperationName | 'events';
