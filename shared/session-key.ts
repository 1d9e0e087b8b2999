import { GatewayError } from './errors.js';

/** A session's address within a scope. */
export interface SessionKey {
  readonly app: string;
  readonly name: string;
}

/** A name with `~` is the address of a session of somebody else: of a grant, or with `~of.` of any. */
const NAME = /^(?:~?[A-Za-z0-9_.:@+-]{1,128}|~of\.[A-Za-z0-9_-]{1,4000})$/;
const APP = /^[A-Za-z0-9_.@+-]{1,128}$/;

/** Whether a text can name an app: the characters of a session key, without the colon. */
export function isAppName(text: string): boolean {
  return APP.test(text);
}

/**
 * Writes a key in its canonical form: the bare name for a colon-free name of the default app, `app:name` otherwise.
 */
export function formatSessionKey(key: SessionKey, defaultApp: string): string {
  return key.app === defaultApp && !key.name.includes(':') ? key.name : `${key.app}:${key.name}`;
}

/**
 * Reads a key. The first colon splits; without one the key names a session of the default app.
 *
 * @throws GatewayError `INVALID_REQUEST` when it holds other characters or its name is not 1 to 128 characters long.
 *
 * @example
 * ```ts
 * const { app: name, name: session } = parseSessionKey('assistant:main', 'assistant');
 * ```
 */
export function parseSessionKey(text: string, defaultApp: string): SessionKey {
  const at = typeof text === 'string' ? text.indexOf(':') : -1;
  const app = at < 0 ? defaultApp : text.slice(0, at);
  const name = at < 0 ? text : text.slice(at + 1);
  if (typeof text === 'string' && APP.test(app) && NAME.test(name)) return { app, name };
  const message = 'must be a name or app:name; each 1 to 128 of the characters A-Z a-z 0-9 _ . : @ + -';
  throw new GatewayError({
    code: 'INVALID_REQUEST',
    message: `sessionId ${message}`,
    details: [{ path: 'sessionId', message }],
  });
}
