import type { SessionRef } from './stored.js';

/** A session's identity as one text. */
export function keyOf({ scope, app, name }: SessionRef): string {
  return `${scope}\n${app}:${name}`;
}
