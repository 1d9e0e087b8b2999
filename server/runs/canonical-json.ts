import { createHash } from 'node:crypto';

/** A value as canonical JSON (RFC 8785): equal values give the same text. Values that JSON lacks are left out, as by `JSON.stringify`. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join()}}`;
}

/** SHA-256 of a value as canonical JSON, base64url. */
export function hashOfJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}
