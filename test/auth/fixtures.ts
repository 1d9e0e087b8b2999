import { expect } from 'chai';
import type { AuthRequest, Credentials } from '../../server/auth/types.js';
import { type GatewayError, isGatewayError } from '../../shared/errors.js';

/** A secret of 32 bytes and more. */
export const SECRET = 'a-shared-secret-of-more-than-32-bytes!';

export function request(ip = '203.0.113.7', headers: AuthRequest['headers'] = {}): AuthRequest {
  return { ip, headers };
}

export function bearing(token: string | undefined, ip?: string): Credentials {
  return { token, request: request(ip) };
}

/** The GatewayError that a call throws or rejects with. */
export async function refusalOf(run: () => unknown): Promise<GatewayError> {
  try {
    await run();
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
  return expect.fail('nothing was thrown');
}

export async function codeOf(run: () => unknown): Promise<string> {
  return (await refusalOf(run)).code;
}
