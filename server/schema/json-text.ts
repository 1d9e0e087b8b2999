/**
 * The text of a value as JSON; undefined for values that JSON leaves out.
 *
 * @throws TypeError for a cycle, a bigint, a `Map` and a `Set`. `JSON.stringify` alone would write the last two as `{}`
 */
export function jsonText(value: unknown): string | undefined {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    const path = pathTo(value, (inner) => typeof inner === 'bigint');
    throw path === null ? cause : noJson('bigint', path, cause);
  }
  // Only a text with an empty object can have lost something, and hardly any has one.
  if (!text?.includes('{}')) return text;
  const path = pathTo(value, isCollection);
  if (path === null) return text;
  throw noJson('Map or Set', path);
}

/** Whether JSON would lose the entries of a value. */
export function isCollection(value: unknown): boolean {
  return (
    (value instanceof Map || value instanceof Set) &&
    typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function'
  );
}

/** The text of an error for a value that JSON has no form for. */
export const noJsonFor = (kind: string, path = ''): string =>
  `JSON has no ${kind}${path && ` (at ${path})`}: declare a schema with a codec, which writes it as text, as a list or as an object`;

const noJson = (kind: string, path: string, cause?: unknown): TypeError =>
  new TypeError(noJsonFor(kind, path), { cause });

/** The path to the first value that fits, within another one; null if there is none. Values that write themselves are passed over. */
function pathTo(value: unknown, isIt: (value: unknown) => boolean): string | null {
  const seen = new Set<unknown>();
  const find = (inner: unknown, path: string): string | null => {
    if (isIt(inner)) return path;
    if (typeof inner !== 'object' || inner === null || seen.has(inner)) return null;
    seen.add(inner);
    if (typeof (inner as { readonly toJSON?: unknown }).toJSON === 'function') return null;
    for (const [name, member] of Object.entries(inner)) {
      const found = find(member, path === '' ? name : `${path}.${name}`);
      if (found !== null) return found;
    }
    return null;
  };
  return find(value, '');
}
