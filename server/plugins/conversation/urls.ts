/** The parts of a path as they were meant. @param rest What follows the plugin's own path, without the first slash */
export function partsOf(rest: string): string[] {
  return rest === '' ? [] : rest.split('/').map(decode);
}

/** A part of a path as it was meant. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What a URL asks. */
export function queryOf(url = ''): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}
