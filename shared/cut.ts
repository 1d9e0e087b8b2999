/**
 * Shortens a text to at most so many units of UTF-16, the ellipsis among them, and never to half a character.
 *
 * @param ellipsis The end of a shortened text. @default nothing
 */
export function cut(text: string, most: number, ellipsis = ''): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - ellipsis.length));
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${ellipsis}`;
}

/** A text for a person to read: no control character of it steers a terminal or a log, and no mark of direction puts it in another order. */
export function shown(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '?');
}
