/** A random id. Pages of plain `http:` have no `crypto.randomUUID`, and some runtimes no `crypto`. An id must be unique, not secret. */
export function randomId(): string {
  const { crypto } = globalThis as { readonly crypto?: Partial<Crypto> };
  const digit = () => Math.floor(Math.random() * 16).toString(16);
  return crypto?.randomUUID?.().replaceAll('-', '') ?? Array.from({ length: 32 }, digit).join('');
}
