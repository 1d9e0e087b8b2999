import crypto, { timingSafeEqual } from 'node:crypto';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { GatewayError } from '../../../shared/errors.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { MetricsPluginOptions } from './options.js';

const MIN_BYTES = 32;

/** Checks that a request may read the metrics, else throws. */
export type Admission = (call: Pick<PluginRequest, 'request' | 'address'>) => void;

/** @throws GatewayError `INVALID_REQUEST` naming the wrong option */
export function admissionOf({
  token,
  addresses,
}: Pick<MetricsPluginOptions, 'token' | 'addresses'>): Admission {
  const hasAddress = addresses && addressCheck(addresses);
  const hasToken = token === undefined ? undefined : tokenCheck([token].flat());
  return ({ request, address }) => {
    // Clients at other addresses need not learn that this page exists.
    if (hasAddress?.(address) === false) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    if (hasToken?.(request.headers.authorization) === false)
      throw new GatewayError({ code: 'UNAUTHENTICATED' });
  };
}

function tokenCheck(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  if (tokens.length === 0 || tokens.some((token) => Buffer.byteLength(token) < MIN_BYTES))
    throw invalid(`token: has fewer than ${MIN_BYTES} bytes; make one with \`openssl rand -base64 32\``);
  const digests = tokens.map(digest);
  return (authorization) => {
    const shown = digest(/^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
    let found = false;
    // Compares all of them, so that the time reveals nothing.
    for (const one of digests) if (timingSafeEqual(one, shown)) found = true;
    return found;
  };
}

const digest = (text: string): Buffer => crypto.hash('sha256', text, 'buffer');

function addressCheck(addresses: readonly string[]): (address: string) => boolean {
  const allowed = new BlockList();
  for (const one of addresses) {
    const [address = '', prefix] = one.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const bits = prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix);
    if (isIP(address) === 0 || !Number.isInteger(bits) || bits < 0 || bits > (family === 'ipv6' ? 128 : 32))
      throw invalid(`addresses: ${JSON.stringify(one)} is no address and no network`);
    allowed.addSubnet(address, bits, family);
  }
  return (address) => isIP(address) !== 0 && allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function invalid(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message: `metricsPlugin: ${message}` });
}
