import type { IncomingMessage } from 'node:http';
import type { OperationName } from '../../shared/operations.js';
import type { AuthRequest, UserLike } from '../auth/types.js';
import { requestIdOfRequest } from './request-id.js';

/** How a host hands a request over. */
export interface HandleOptions {
  /**
   * The user, if the host has authenticated the request itself. Null says that the host found no user: the gateway's `auth` then decides,
   * and a gateway that serves anonymous callers refuses the request.
   */
  readonly user?: UserLike | null | undefined;
  /** Path below which the gateway is mounted, for hosts that strip nothing. */
  readonly basePath?: string | undefined;
  /** The JSON body, if the host has parsed it and keeps it apart from Node's request (Fastify, `fetch` hosts). */
  readonly body?: unknown;
}

/** How a host has one operation served, for any path of the request. */
export interface OperationOptions extends Omit<HandleOptions, 'basePath'> {
  /**
   * The params, made by the host; the request's HTTP method is then the host's choice too. Without them the query or the JSON body counts,
   * as on the operation's own route.
   */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** An operation or the stream of events, which a host may serve on a path of its own. */
export type ServedOperation = OperationName | 'events';

/** The path of a request below the gateway's mount, and its query. */
export interface RequestTarget {
  readonly path: string;
  readonly query: string;
}

/** Splits a request's URL; null when it is outside `basePath`. */
export function targetOf(request: IncomingMessage, basePath: string): RequestTarget | null {
  const url = request.url ?? '/';
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const query = at < 0 ? '' : url.slice(at + 1);
  if (basePath === '') return { path, query };
  if (!path.startsWith(basePath)) return null;
  const rest = path.slice(basePath.length);
  return rest === '' || rest.startsWith('/') ? { path: rest || '/', query } : null;
}

/** The part of a request that authentication may see. */
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
