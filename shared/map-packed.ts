/**
 * `map` for lists that are made for each message or batch. In optimised code V8's `map` makes arrays that may have holes, which deoptimise all code
 * that was compiled for arrays without holes.
 */
export function mapPacked<T, R>(list: readonly T[], make: (item: T) => R): R[] {
  const made: R[] = [];
  for (const item of list) made.push(make(item));
  return made;
}
