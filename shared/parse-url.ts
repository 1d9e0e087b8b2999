/**
 * Parses a text as a URL; null if it is none. Replaces `URL.canParse`, which on Node 20, once compiled, refuses letters such as "ü".
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
