import { createHmac, timingSafeEqual } from 'node:crypto';

const PREFIX = 'whsec_';
/** Length of a secret in bytes, by Standard Webhooks. */
export const SECRET_BYTES = { least: 24, most: 64 } as const;

/** The signed parts of a webhook. */
export interface Signed {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string | Uint8Array;
}

/** The problem with a secret; undefined if it is valid. */
export function secretProblem(secret: unknown): string | undefined {
  const { least, most } = SECRET_BYTES;
  const how = '; make one by `openssl rand -base64 32`, with whsec_ before it or without';
  if (typeof secret !== 'string') return `must be a text${how}`;
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return `must be base64${how}`;
  const { length } = keyOf(secret);
  return length < least || length > most
    ? `must be ${least} to ${most} bytes, and is ${length}${how}`
    : undefined;
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
}

/** The signature of a webhook under one secret. */
export function signatureOf({ id, timestamp, body }: Signed, secret: string): string {
  const hash = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hash.digest('base64')}`;
}

/** Whether a header contains a signature by one of the secrets. Compares in constant time. */
export function isSigned(signed: Signed, header: string, secrets: readonly string[]): boolean {
  const expected = secrets.map((secret) => Buffer.from(signatureOf(signed, secret)));
  let found = false;
  for (const given of header.split(' ').slice(0, 16)) {
    const bytes = Buffer.from(given);
    for (const one of expected) {
      if (bytes.length === one.length && timingSafeEqual(bytes, one)) found = true;
    }
  }
  return found;
}
