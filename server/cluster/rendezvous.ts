import { createHash } from 'node:crypto';
import type { SessionRef } from '../stores/store.js';

/** Which of these members comes first for a session: the same for all who ask, and another one only where that is gone (rendezvous hashing). */
export function firstFor({ scope, app, name }: SessionRef, members: readonly string[]): string | undefined {
  const weight = (member: string): string =>
    createHash('sha256')
      .update(JSON.stringify([scope, app, name, member]))
      .digest('hex');
  return members.map((member) => [weight(member), member] as const).sort()[0]?.[1];
}
