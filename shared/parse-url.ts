/**
 * The URL that a text is, or null. In place of `URL.canParse`, which refuses letters such as "ü" on Node 20 once it was called often
 * enough to be compiled.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
