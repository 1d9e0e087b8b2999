/** Most bytes of an id that an app or a client gives. Every store has an index that takes as many. */
export const MAX_ID_BYTES = 256;

/** Control characters, and half of a pair of surrogates: no header, URL or other program takes them. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** The fault of an id that somebody else gives; null if it is fit. */
export function idProblem(id: string, most = MAX_ID_BYTES): string | null {
  if (id === '') return 'must not be empty';
  // A unit of UTF-16 takes at most three bytes.
  if (id.length > most || (3 * id.length > most && new TextEncoder().encode(id).length > most))
    return `must have at most ${most} bytes`;
  return UNFIT.test(id) ? 'must have no control characters and no half of a surrogate pair' : null;
}
