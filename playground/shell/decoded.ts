/** A part of an address without its escapes; one that is broken stays as it is written. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
