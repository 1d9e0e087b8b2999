/**
 * All but printable ASCII, and of that the separator, the mark of an escape, the space (a header loses one at its end) and the dot: signatures have ids
 * between dots.
 */
const ESCAPED = /[^"-\-/-}]/g;
/** A part as it is written. */
const PART = String.raw`(?:["-\-/-}]|![!t0]|!u[0-9a-f]{4})+`;
const WRITTEN = new RegExp(`^${PART}(?:~${PART})*$`);
const ESCAPE = /!(?:u([0-9a-f]{4})|([!t0]))/g;

function escaped(part: string): string {
  if (part === '') return '!0';
  return part.replace(ESCAPED, (unit) => {
    if (unit === '~') return '!t';
    return unit === '!' ? '!!' : `!u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function plain(part: string): string {
  return part.replace(ESCAPE, (_, code: string | undefined, sign: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return sign === 't' ? '~' : sign === '0' ? '' : '!';
  });
}

/** Writes an id that is composed of parts, any texts. No two lists of parts have one id, and every id can stand in a header, whole. */
export function composeId(...parts: readonly (string | number)[]): string {
  return parts.map((part) => escaped(String(part))).join('~');
}

/** Reads the parts of an id that `composeId` wrote; null for any other text. */
export function partsOfId(id: string): readonly string[] | null {
  if (!WRITTEN.test(id)) return null;
  const parts = id.split('~').map(plain);
  return composeId(...parts) === id ? parts : null;
}
