import { parseUrl } from '../../shared/parse-url.js';
import { isLoopback } from '../auth/address.js';
import type { AuthRequest } from '../auth/types.js';

const PATTERN = /^([a-z][a-z\d+.-]*):\/\/([^/?#@\s\\]+)\/?$/i;
const EXAMPLE = 'write it as browsers do, for example "https://app.example"';

/**
 * Origins of other sites whose pages may call, as browsers write them (`https://app.example`), or a function that answers at once
 * whether this one may. It is asked once for each request with an `Origin`, never about `null`; a throw refuses.
 */
export type Origins = readonly string[] | ((origin: string, request: AuthRequest) => boolean);

/** An origin as browsers write it, or what is wrong with a text that is none. */
export type ReadOrigin =
  | { readonly origin: string; readonly problem?: undefined }
  | { readonly origin?: undefined; readonly problem: string };

/** Reads an origin that a person wrote. Where the meaning is plain (a slash at the end, capitals, the usual port) it is taken as meant. */
export function readOrigin(text: string): ReadOrigin {
  if (text.includes('*')) {
    return { problem: 'is no pattern; list every origin, or give a function (origin, request) => boolean' };
  }
  if (text === 'null')
    return { problem: 'is what any sandboxed frame and local file sends, and cannot be let in' };
  const [, scheme = '', host = ''] = PATTERN.exec(text) ?? [];
  if (scheme === '') return { problem: meant(text) };
  // Of schemes of apps (`tauri://localhost`) URL knows no origin.
  if (!/^(?:https?|wss?)$/i.test(scheme)) return { origin: `${scheme.toLowerCase()}://${host}` };
  const origin = webOrigin(text);
  if (origin === undefined || /^ws/i.test(scheme)) return { problem: meant(text) };
  return { origin };
}

function meant(text: string): string {
  const hostname = text.replace(/[:/?#].*$/s, '');
  const whole = text.includes('://')
    ? text.replace(/^ws/i, 'http')
    : `${isLoopback(hostname) ? 'http' : 'https'}://${text}`;
  const origin = webOrigin(whole);
  return origin === undefined ? `is no origin; ${EXAMPLE}` : `is no origin; write "${origin}"`;
}

function webOrigin(text: string): string | undefined {
  const origin = parseUrl(text)?.origin;
  return origin === 'null' ? undefined : origin;
}
