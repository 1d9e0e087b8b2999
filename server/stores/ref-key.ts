import type { SessionRef } from './store.js';

/** A session's identity as one text. */
export function keyOf({ scope, app, name }: SessionRef): string {
  return `${scope}\n${app}:${name}`;
}
