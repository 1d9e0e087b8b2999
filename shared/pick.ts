/** The named fields, without those that are undefined. */
export function pick<T extends object, Name extends keyof T>(
  from: T,
  ...names: readonly Name[]
): Pick<T, Name> {
  const picked = {} as Pick<T, Name>;
  for (const name of names) if (from[name] !== undefined) picked[name] = from[name];
  return picked;
}
