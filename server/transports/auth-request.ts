import type { IncomingMessage } from 'node:http';
import type { AuthRequest } from '../auth/types.js';

/** What authentication may see of a request. */
export function authRequest(request: IncomingMessage, ip: string): AuthRequest {
  return { headers: request.headers, ip, raw: request };
}
