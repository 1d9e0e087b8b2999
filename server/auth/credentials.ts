import { unauthenticated } from './refusal.js';
import type { AuthRequest, Credentials } from './types.js';

/** Longest credential that is accepted, in characters (ASCII: bytes). */
export const MAX_TOKEN_LENGTH = 8192;

const SCHEME = /^bearer/i;

/**
 * The token of an `Authorization: Bearer` header; undefined without one or with another scheme.
 *
 * @throws GatewayError `UNAUTHENTICATED` when the header is repeated, malformed or longer than 8 KiB.
 */
export function bearerToken(headers: AuthRequest['headers']): string | undefined {
  const header = headers.authorization;
  if (header === undefined) return undefined;
  if (typeof header !== 'string') throw unauthenticated('several Authorization headers');
  if (!SCHEME.test(header)) return undefined;
  const rest = header.replace(SCHEME, '');
  if (rest.length > MAX_TOKEN_LENGTH + 2) throw unauthenticated('the Authorization header is too long');
  if (rest !== '' && !rest.startsWith(' ')) return undefined;
  const token = rest.trim();
  if (token === '') return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) throw unauthenticated('the bearer token holds other characters');
  return token;
}

/** A caller's credentials. */
export class ShownCredentials implements Credentials {
  readonly token: string | undefined;
  readonly request: AuthRequest;

  constructor(token: string | undefined, request: AuthRequest) {
    this.token = token;
    this.request = request;
  }
}
