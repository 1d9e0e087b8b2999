/**
 * A part of a list whose pages begin behind the last item of the one before.
 *
 * @param options `after`: the id of that item; null for the beginning
 * @returns Null if the list has no such item
 */
export function pageBehind<Item extends { readonly id?: string }>(
  items: readonly Item[],
  { after, limit }: { readonly after: string | null; readonly limit: number },
): { readonly data: readonly Item[]; readonly hasMore: boolean } | null {
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) return null;
  return { data: items.slice(start, start + limit), hasMore: start + limit < items.length };
}
