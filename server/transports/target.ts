import type { IncomingMessage } from 'node:http';

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
