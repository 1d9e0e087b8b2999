/**
 * As `map`, for what is made for each message or batch. In code that V8 has optimised `map` makes arrays that may have holes: whatever was
 * compiled for arrays without holes and meets one of them is thrown away, and compiled again.
 */
export function mapPacked<T, R>(list: readonly T[], make: (item: T) => R): R[] {
  const made: R[] = [];
  for (const item of list) made.push(make(item));
  return made;
}
