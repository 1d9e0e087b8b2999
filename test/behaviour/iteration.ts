import { takeUntil } from '../support/client.js';

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
