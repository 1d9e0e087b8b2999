/** Size of events, in characters of their bodies. */
export function sizeOf(events: readonly { readonly body: string }[]): number {
  let size = 0;
  for (const { body } of events) size += body.length;
  return size;
}
