import type { TLSSocket } from 'node:tls';
import { cut } from '../../../shared/cut.js';
import { GatewayError } from '../../../shared/errors.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';

/** The decoded parts of a path. @param rest The path below the plugin's own, without the first slash */
export function partsOf(rest: string): string[] {
  return rest === '' ? [] : rest.split('/').map(decode);
}

/** A decoded part of a path. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The query of a URL. */
export function queryOf(url = ''): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

/** @throws GatewayError `METHOD_NOT_ALLOWED` if a route takes another method */
export function only(allowed: string, { request: { method } }: Pick<PluginRequest, 'request'>): void {
  if (method !== allowed)
    throw new GatewayError({ code: 'METHOD_NOT_ALLOWED', message: `This route takes ${allowed}` });
}

/** The address of the gateway's mount, as a caller has it. The gateway has checked the host. */
export function mountOf({ request, path }: Pick<PluginRequest, 'request' | 'path'>): string {
  const scheme = (request.socket as Partial<TLSSocket>).encrypted ? 'https' : 'http';
  const [full = ''] = (request.url ?? '').split('?');
  return `${scheme}://${request.headers.host}${cut(full, full.length - path.length)}`;
}
