import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { addressKey } from './address.js';
import { invalidAuth } from './refusal.js';

/**
 * The proxies whose `X-Forwarded-For` is believed, as in Express: `true` for all, a number of hops, or addresses and CIDR ranges
 * (`loopback`, `linklocal` and `uniquelocal` name some).
 */
export type TrustProxy = boolean | number | string | readonly string[];

/** The address of a request's client; empty if unknown. */
export type ClientAddress = (request: IncomingMessage) => string;

type Trust = (address: string, hop: number) => boolean;

const NOBODY: Trust = () => false;

/** Compiles `trustProxy` into a check of addresses. @throws GatewayError `INVALID_REQUEST` naming `trustProxy` */
export function trustOf(trusted: TrustProxy | undefined): Trust {
  if (trusted === undefined || trusted === false) return NOBODY;
  if (trusted === true) return () => true;
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted;
  const list = typeof trusted === 'string' ? trusted.split(',').map((one) => one.trim()) : [...trusted];
  try {
    return proxyAddr.compile(list);
  } catch (cause) {
    throw invalidAuth('trustProxy', cause instanceof Error ? cause.message : 'must be addresses or ranges');
  }
}

/**
 * Finds a client's address: behind trusted proxies, or the peer's. Without `trustProxy`, an address that a host framework (Express) has
 * found is believed.
 *
 * @throws GatewayError `INVALID_REQUEST` naming `trustProxy`
 */
export function clientAddress(trusted: TrustProxy | undefined): ClientAddress {
  if (trusted === undefined) {
    return (request) => (request as { ip?: string }).ip ?? request.socket.remoteAddress ?? '';
  }
  const trust = trustOf(trusted);
  // Some proxies add the port.
  return (request) => (proxyAddr(request, trust) ?? '').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}

/** Whether a request looks as if a proxy on this machine had forwarded it, and the host framework (Express) believes none. */
export function isForwarded(request: IncomingMessage): boolean {
  const { headers, socket } = request;
  const { ips } = request as { ips?: readonly string[] };
  return (
    !ips?.length &&
    (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) &&
    addressKey(socket.remoteAddress ?? '') === '127.0.0.1'
  );
}
