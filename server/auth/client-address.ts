import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { addressKey } from './address.js';
import { invalidAuth } from './refusal.js';

/**
 * Which proxies are believed about whom they speak for (`X-Forwarded-For`), as in Express: `true` for all, a number of hops, or
 * addresses and CIDR ranges (`loopback`, `linklocal` and `uniquelocal` are names of some).
 */
export type TrustProxy = boolean | number | string | readonly string[];

/** The address of the client that makes a request; empty where it is not known. */
export type ClientAddress = (request: IncomingMessage) => string;

type Trust = (address: string, hop: number) => boolean;

const NOBODY: Trust = () => false;

/** Tells whose word about a client's address counts. @throws GatewayError `INVALID_REQUEST` naming `trustProxy` */
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
 * Finds a client's address: behind the proxies that are trusted, or the peer's. Without `trustProxy` a host framework that found
 * one out itself (Express) is believed.
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

/** Whether a request looks as if a proxy on this machine had passed it on. */
export function isForwarded(request: IncomingMessage): boolean {
  const { headers, socket } = request;
  return (
    (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) &&
    addressKey(socket.remoteAddress ?? '') === '127.0.0.1'
  );
}
