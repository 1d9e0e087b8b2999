import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const NAME = 'visitor';

/** Knows visitors again by a signed cookie. It stands for your log-in: put that in its place, and the rest stays as it is. */
export function createVisitors(secret: string) {
  const sign = (id: string): string =>
    createHmac('sha256', secret).update(`visitor ${id}`).digest('base64url');

  /** The visitor of a request, if its cookie is one of ours. */
  function userOf({ headers }: IncomingMessage): { id: string } | undefined {
    const cookies = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('='));
    const [id = '', signature = ''] = (cookies.find(([name]) => name === NAME)?.[1] ?? '').split('.');
    const wanted = Buffer.from(sign(id));
    const given = Buffer.from(signature);
    return wanted.length === given.length && timingSafeEqual(wanted, given) ? { id } : undefined;
  }

  /** The cookie of a new visitor. Scripts can't read it, and pages of other sites can't have it sent. */
  function newCookie(isSecure: boolean): string {
    const id = `visitor-${randomUUID()}`;
    const yearSeconds = 365 * 24 * 60 * 60;
    return `${NAME}=${id}.${sign(id)}; Path=/; Max-Age=${yearSeconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  return { userOf, newCookie };
}
