import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fieldError } from '../conversation/errors.js';

/** The header that keeps a conversation in a session. */
export const SESSION_HEADER = 'x-session-id';

/** Names of sessions. A name with `~` is the address of a grant. */
const NAME = /^~?[A-Za-z0-9_.:@+-]{1,128}$/;

/** The session of a conversation. */
export interface SessionPlace {
  /** The caller's name for it. */
  readonly shown: string;
  /** The session's key, app included. */
  readonly key: string;
  /** Whether the caller has not named it, so that it ends with the answer. */
  readonly ephemeral: boolean;
}

/**
 * The session of a request: a name among the sessions of the model's app, with or without the app before it.
 *
 * @param apps Names of all apps
 * @throws GatewayError `INVALID_REQUEST` for a malformed name, or one of another app's session
 */
export function sessionPlace(
  { headers }: Pick<IncomingMessage, 'headers'>,
  app: string,
  apps: readonly string[],
): SessionPlace {
  const shown = headers[SESSION_HEADER];
  if (shown === undefined || shown === '') return generatedPlace(app);
  const text = String(shown);
  const at = text.indexOf(':');
  const named = at > 0 ? text.slice(0, at) : undefined;
  if (named !== undefined && named !== app && apps.includes(named))
    throw fieldError(SESSION_HEADER, 'names a session of another app', 'invalid_value');
  const name = named === app ? text.slice(at + 1) : text;
  if (!NAME.test(name)) {
    throw fieldError(
      SESSION_HEADER,
      'must be 1 to 128 of the characters A-Z a-z 0-9 _ . : @ + -',
      'invalid_value',
    );
  }
  return { shown: text, key: `${app}:${name}`, ephemeral: false };
}

function generatedPlace(app: string): SessionPlace {
  const shown = `chat-${randomUUID()}`;
  return { shown, key: `${app}:${shown}`, ephemeral: true };
}
