import type { IncomingMessage } from 'node:http';
import type { OperationName } from '../../shared/operations.js';
import type { AuthRequest, UserLike } from '../auth/types.js';
import { requestIdOfRequest } from './request-id.js';

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

/** The path of a request below the gateway's mount, and its query. */
export interface Target {
  readonly path: string;
  readonly query: string;
}

/** Splits a request's URL; null when it is outside `basePath`. */
export function targetOf(request: IncomingMessage, basePath: string): Target | null {
  const url = request.url ?? '/';
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const query = at < 0 ? '' : url.slice(at + 1);
  if (basePath === '') return { path, query };
  if (!path.startsWith(basePath)) return null;
  const rest = path.slice(basePath.length);
  return rest === '' || rest.startsWith('/') ? { path: rest || '/', query } : null;
}

/** What authentication may see of a request. */
export function authRequest(request: IncomingMessage, ip: string): AuthRequest {
  return new NodeRequest(request, ip);
}

class NodeRequest implements AuthRequest {
  readonly headers: AuthRequest['headers'];
  readonly ip: string;
  readonly raw: IncomingMessage;

  constructor(request: IncomingMessage, ip: string) {
    this.headers = request.headers;
    this.ip = ip;
    this.raw = request;
  }

  get requestId(): string {
    return requestIdOfRequest(this.raw);
  }
}
