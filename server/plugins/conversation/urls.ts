/** The parts of a path as they were meant. @param rest The path below the plugin's own, without the first slash */
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

/** The query of a URL. */
export function queryOf(url = ''): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}
