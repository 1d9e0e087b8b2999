import type { IncomingMessage } from 'node:http';
import { cut } from '../../shared/cut.js';
import { ERROR_TABLE, GatewayError, isGatewayError } from '../../shared/errors.js';

/** Characters of a path that an error repeats at most. */
const MOST = 128;

/**
 * The error for a path that is no route. It names the path as the client wrote it, and the mount, since a client with another mount is the
 * usual reason.
 *
 * @param mount The path below which the routes begin, unless the host has stripped it
 * @param serves Whether a path below the mount is a route of every gateway: those of plugins may be hidden
 */
export function routeNotFound(
  request: IncomingMessage & { readonly originalUrl?: unknown },
  mount: string,
  serves: (path: string) => boolean,
): GatewayError {
  const { url = '/', originalUrl } = request;
  const whole = typeof originalUrl === 'string' && originalUrl.endsWith(url) ? originalUrl : url;
  const stripped = whole.slice(0, whole.lastIndexOf(url));
  const asked = cut(whole.split('?', 1)[0]!, MOST, '…');
  const from = stripped + mount;
  const message = `There is no ${asked}; the gateway's routes begin at ${from || '/'}`;
  const unstripped = from === '' ? mountBefore(asked, serves) : undefined;
  return new GatewayError({
    code: 'ROUTE_NOT_FOUND',
    message:
      unstripped === undefined ? message : `${message}. If ${unstripped} is its mount, say so: basePath`,
  });
}

/** Whether an error says no more than that there is no such route. */
export function isBareNotFound(error: unknown): boolean {
  return isGatewayError(error) && error.message === ERROR_TABLE.ROUTE_NOT_FOUND.message;
}

/** The part of a path that is in front of a route. */
function mountBefore(path: string, serves: (path: string) => boolean): string | undefined {
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1))
    if (serves(path.slice(at))) return path.slice(0, at);
  return undefined;
}
