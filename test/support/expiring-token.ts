import type { AuthConfig } from '../../server/index.js';
import { holdWallClock } from './wall-clock.js';

/** A token of alice's that expires when the test says, and limits with which what is open ends soon after it. */
export function expiringToken() {
  const letPass = holdWallClock();
  const auth: AuthConfig = {
    type: 'custom',
    cookies: false,
    // Whoever is asked about again is let in again: nothing but the end of its token ends what is open.
    validate: async () => ({ valid: true, user: { id: 'alice' }, expiresAt: Date.now() + 60_000 }),
  };
  return { auth, limits: { revalidateMs: 400 }, expire: (): void => letPass(60_000) };
}
