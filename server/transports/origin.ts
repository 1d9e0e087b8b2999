import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../shared/errors.js';

/** Which pages and names may reach the gateway. */
export interface OriginPolicy {
  /** Origins of other sites that may call, as browsers write them (`https://app.example`). */
  readonly origins: readonly string[];
  /** Names the gateway may be addressed by; null to accept any, where the host in front decides. */
  readonly hosts: readonly string[] | null;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Whether an address can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Names a gateway that listens on a host answers to: on loopback its own, so that rebinding a foreign name gets nowhere. */
export function defaultHosts(host: string): readonly string[] | null {
  return isLoopback(host) ? [...new Set([...LOOPBACK, host.includes(':') ? `[${host}]` : host])] : null;
}

/**
 * Refuses foreign names (DNS rebinding) and foreign pages (cross-site requests and WebSockets). A request without `Origin` is no
 * page's and passes; it still needs its credentials.
 *
 * @param hostAllowed Whether the host's own CORS layer has already let this origin in.
 * @throws GatewayError `ORIGIN_DENIED`
 */
export function checkOrigin(headers: IncomingHttpHeaders, policy: OriginPolicy, hostAllowed = false): void {
  const host = headers.host ?? '';
  if (policy.hosts && !policy.hosts.includes(withoutPort(host).toLowerCase())) {
    throw new GatewayError({
      code: 'ORIGIN_DENIED',
      message: `The gateway does not answer to the host name ${shown(host)}; the option allowedHosts adds names`,
    });
  }
  const { origin } = headers;
  if (origin === undefined || policy.origins.includes(origin) || hostAllowed) return;
  if (origin !== 'null' && originHost(origin) === host.toLowerCase()) return;
  if (headers['sec-fetch-site'] === 'same-origin' && isLoopbackOrigin(origin)) return;
  throw new GatewayError({
    code: 'ORIGIN_DENIED',
    message: `Pages of the origin ${shown(origin)} may not call the gateway, here addressed as ${shown(host)}; the option origins adds origins, and a proxy in front has to leave the Host header as it is`,
  });
}

/**
 * Of a page of this machine, a browser's word that it calls its own origin is enough: development proxies put another name into
 * `Host`. Not of others, whose names can be made to point here.
 */
function isLoopbackOrigin(origin: string): boolean {
  const host = originHost(origin);
  return host !== null && isLoopback(withoutPort(host).replace(/^\[|\]$/g, ''));
}

/** A caller's text for a message. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}

/**
 * Refuses a cross-site request that carries nothing but cookies.
 *
 * @throws GatewayError `ORIGIN_DENIED`
 */
export function checkCookieRequest(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  if (headers.cookie === undefined || headers.origin !== undefined) return;
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new GatewayError({ code: 'ORIGIN_DENIED', message: 'Cookies count on same-origin requests only' });
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, '');
}

function originHost(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}
