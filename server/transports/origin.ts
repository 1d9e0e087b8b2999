import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { cut } from '../../shared/cut.js';
import { GatewayError } from '../../shared/errors.js';
import { addressKey, isLoopback } from '../auth/address.js';
import type { OriginRefusal } from '../lifecycle/refusals.js';
import type { AllowsOrigin } from './allowed-origins.js';
import { requestIdOfRequest } from './request-id.js';

/** The policy for pages and host names that may reach the gateway. */
export interface OriginPolicy {
  /** Whether pages of another site may call. */
  readonly allows: AllowsOrigin;
  /** Host names that the gateway answers to; null to accept any, if the host in front decides. */
  readonly hosts: readonly string[] | null;
  /** Whether callers need no authentication. Then a browser of this machine must not be led here under another host name. */
  readonly open?: boolean;
  /** Called for each refused request. */
  readonly onRefused?: (refusal: OriginRefusal) => void;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Host names that a gateway answers to by default: on loopback only its own, as a defence against DNS rebinding. */
export function defaultHosts(host: string): readonly string[] | null {
  return isLoopback(host) ? [...new Set([...LOOPBACK, host.includes(':') ? `[${host}]` : host])] : null;
}

/**
 * The host names that a gateway answers to. `allowedHosts` adds to its own names on loopback. Anywhere else, and embedded, it is the whole
 * list, with the names of loopback for health checks; without it the gateway answers to any name.
 */
export function answeredHosts(
  { host, embedded }: { readonly host: string; readonly embedded: boolean },
  allowedHosts: readonly string[],
): readonly string[] | null {
  const own = embedded ? null : defaultHosts(host);
  if (!own && allowedHosts.length === 0) return null;
  return [...new Set([...(own ?? LOOPBACK), ...allowedHosts.map((name) => name.toLowerCase())])];
}

/**
 * Refuses foreign names (DNS rebinding) and foreign pages (cross-site requests and WebSockets). A request that no page made has no
 * `Origin` and passes this check; it still needs credentials.
 *
 * @param hostAllowed Whether the host's own CORS layer has already let this origin in.
 * @returns the origin, if the policy allows it and its page may read the response
 * @throws GatewayError `ORIGIN_DENIED`; `INVALID_REQUEST` for a request with two `Host` headers
 */
export function checkOrigin(
  request: IncomingMessage,
  policy: OriginPolicy,
  hostAllowed = false,
): string | undefined {
  const { headers } = request;
  if (hasTwoHosts(request.rawHeaders)) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'The request has several Host headers' });
  }
  const host = headers.host ?? '';
  const name = withoutPort(host).toLowerCase();
  if (policy.hosts ? !policy.hosts.includes(name) : policy.open && isLedHere(request, name)) {
    throw denied(
      policy,
      { host, requestId: requestIdOfRequest(request) },
      `The gateway does not answer to the host name ${shown(host)}; the option allowedHosts adds names`,
    );
  }
  const { origin } = headers;
  if (hostAllowed) return undefined;
  if (origin === undefined) {
    if (!isEmbeddedByOtherSite(headers)) return undefined;
    throw denied(
      policy,
      { host, requestId: requestIdOfRequest(request) },
      'Pages of other sites may not embed what the gateway answers',
    );
  }
  if (policy.allows(origin, request)) return origin;
  if (isSameOrigin(origin, request)) return undefined;
  if (headers['sec-fetch-site'] === 'same-origin' && isLoopbackOrigin(origin)) return undefined;
  throw denied(
    policy,
    { origin: cut(origin, 128), host, requestId: requestIdOfRequest(request) },
    `Pages of the origin ${shown(origin)} may not call the gateway, here addressed as ${shown(host)}; the option origins adds origins, and a proxy in front has to leave the Host header as it is`,
  );
}

/**
 * Refuses a stream of events to a page of another site. An image or a frame requests it without `Origin`, and its streams would count
 * against the user's limit.
 *
 * @throws GatewayError `ORIGIN_DENIED`
 */
export function checkStreamRequest(headers: IncomingHttpHeaders, policy: OriginPolicy): void {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== 'cross-site') return;
  throw denied(policy, { host: headers.host ?? '' }, 'Pages of other sites may not open event streams');
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

function denied(
  policy: OriginPolicy,
  refused: Omit<OriginRefusal, 'message'>,
  message: string,
): GatewayError {
  policy.onRefused?.({ ...refused, host: cut(refused.host, 128), message });
  return new GatewayError({ code: 'ORIGIN_DENIED', message });
}

// A proxy and the gateway may each pick another one of two `Host` headers (RFC 9112, section 3.2).
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let found = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (found) return true;
    found = true;
  }
  return false;
}

/** Whether a request from this machine names a foreign host, as a page with a rebound name does. Proxies are known by their headers. */
function isLedHere({ headers, socket }: IncomingMessage, name: string): boolean {
  if (LOOPBACK.includes(name) || name.endsWith('.localhost')) return false;
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false;
  return addressKey(socket.remoteAddress ?? '') === '127.0.0.1';
}

/** Whether a page of another site embeds the response, as an image, a script or a frame. A link that a user follows is allowed. */
function isEmbeddedByOtherSite(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-dest'] !== 'document';
}

/** Whether scheme, name and port are those of the request. If TLS ends in front of the gateway, the page may have either scheme. */
function isSameOrigin(origin: string, { headers, socket }: IncomingMessage): boolean {
  const url = parse(origin);
  if (!url || url.origin !== origin.toLowerCase()) return false;
  const schemes = (socket as { encrypted?: boolean }).encrypted ? ['https:'] : ['http:', 'https:'];
  return schemes.includes(url.protocol) && parse(`${url.protocol}//${headers.host}`)?.host === url.host;
}

/**
 * Whether a page comes from this machine. For such a page `Sec-Fetch-Site` is enough, because development proxies change `Host`. Other
 * pages need more: their host names could be rebound to this machine.
 */
function isLoopbackOrigin(origin: string): boolean {
  const host = parse(origin)?.host;
  return host !== undefined && isLoopback(withoutPort(host).replace(/^\[|\]$/g, ''));
}

/** Quotes a caller's text for a message. */
function shown(text: string): string {
  return JSON.stringify(cut(text, 128));
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, '');
}

function parse(url: string): URL | null {
  try {
    return new URL(url);
  } catch {
    return null;
  }
}
