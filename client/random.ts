/** A random id. Pages of plain `http:` have no `crypto.randomUUID`, and some runtimes no `crypto`: an id has to be unique, not secret. */
export function randomId(): string {
  const bytes = new Uint8Array(16);
  const source = (globalThis as { readonly crypto?: Partial<Crypto> }).crypto;
  if (source?.getRandomValues) source.getRandomValues(bytes);
  else for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(Math.random() * 256);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
