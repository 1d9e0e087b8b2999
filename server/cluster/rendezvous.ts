import { createHash } from 'node:crypto';
import type { SessionRef } from '../stores/stored.js';

/** The member that comes first for a session. All members compute the same one, and it changes only when that member leaves (rendezvous hashing). */
export function firstFor({ scope, app, name }: SessionRef, members: readonly string[]): string | undefined {
  const weight = (member: string): string =>
    createHash('sha256')
      .update(JSON.stringify([scope, app, name, member]))
      .digest('hex');
  return members.map((member) => [weight(member), member] as const).sort()[0]?.[1];
}
