/** Everything an iteration yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Takes items up to the one that matches, without leaving the iteration. */
export async function takeUntil<T>(items: AsyncIterator<T>, matches: (item: T) => boolean): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const { done, value } = await items.next();
    if (done) throw new Error(`ended after ${all.length} items`);
    all.push(value);
    if (matches(value)) return all;
  }
}

/** The error a promise rejects with. */
export async function failure(promise: PromiseLike<unknown>): Promise<any> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}

/** Waits for an event of a type; fails when the iteration ends first. */
export async function eventOf<T extends { readonly type: string }, Type extends T['type']>(
  items: AsyncIterator<T>,
  type: Type,
): Promise<Extract<T, { type: Type }>> {
  return (await takeUntil(items, (item) => item.type === type)).at(-1) as Extract<T, { type: Type }>;
}

/** Numbers of logged events, with `gap` and `snapshot` by their names. */
export function placesOf(events: readonly { readonly type: string; readonly cursor?: string | undefined }[]) {
  return events.map(({ type, cursor }) =>
    type === 'gap' || type === 'snapshot' ? type : Number(cursor?.split('.')[2]),
  );
}

/** The numbers from 1 to n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);
