import type { AuthRequest, Credentials } from '../../server/auth/types.js';

/** A secret of 32 bytes and more. */
export const SECRET = 'a-shared-secret-of-more-than-32-bytes!';

export function request(ip = '203.0.113.7', headers: AuthRequest['headers'] = {}): AuthRequest {
  return { ip, headers };
}

export function bearing(token: string | undefined, ip?: string): Credentials {
  return { token, request: request(ip) };
}
