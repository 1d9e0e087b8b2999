import type { IncomingMessage } from 'node:http';
import type { AuthRequest } from '../auth/types.js';

/** What authentication may see of a request. */
export function authRequest(request: IncomingMessage): AuthRequest {
  // Express knows the client behind proxies that it was told to trust.
  const { ip } = request as { ip?: string };
  return { headers: request.headers, ip: ip ?? request.socket.remoteAddress ?? '', raw: request };
}
