import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthConfig, UserLike } from '../index.js';

/** The demo's users: one may call the admin methods, the other may not. */
export interface DemoTokens {
  readonly admin: string;
  readonly guest: string;
}

const ADMIN: UserLike = { id: 'demo', roles: ['admin'] };
const GUEST: UserLike = { id: 'guest', roles: [] };

/** Two fixed tokens, one per user. */
export function demoAuth({ admin, guest }: DemoTokens): AuthConfig {
  return {
    type: 'custom',
    cookies: false,
    validate: (token = '') => {
      if (same(token, admin)) return { valid: true, user: ADMIN };
      if (same(token, guest)) return { valid: true, user: GUEST };
      return { valid: false };
    },
  };
}

/** Compares hashes, so that timing reveals nothing about the text or its length. */
function same(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
