import { parseUrl } from '../../shared/parse-url.js';
import { isLoopback } from '../auth/address.js';
import type { AuthRequest } from '../auth/types.js';

const PATTERN = /^([a-z][a-z\d+.-]*):\/\/([^/?#@\s\\]+)\/?$/i;
const EXAMPLE = 'write it as browsers do, for example "https://app.example"';

/**
 * Origins of other sites whose pages may call, as browsers write them (`https://app.example`), or a synchronous function that decides. It
 * is called once per request with an `Origin`, never for `null`. An error refuses.
 */
export type Origins = readonly string[] | ((origin: string, request: AuthRequest) => boolean);

/** An origin as browsers write it, or the fault of a text that is not one. */
export type ReadOrigin =
  | { readonly origin: string; readonly problem?: undefined }
  | { readonly origin?: undefined; readonly problem: string };

/** Reads an origin that a person wrote. A trailing slash, capitals and the usual port are accepted. */
export function readOrigin(text: string): ReadOrigin {
  if (text.includes('*')) {
    return { problem: 'is no pattern; list every origin, or give a function (origin, request) => boolean' };
  }
  if (text === 'null')
    return { problem: 'is what any sandboxed frame and local file sends, and cannot be let in' };
  const [, scheme = '', host = ''] = PATTERN.exec(text) ?? [];
  if (scheme === '') return { problem: meant(text) };
  // URL gives no origin for schemes of apps (`tauri://localhost`).
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
