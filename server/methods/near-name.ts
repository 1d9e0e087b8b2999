/** Changes of a letter that lead to a name at most. */
const MOST = 2;
/** Characters of a name that are compared at most. */
const LONGEST = 128;

/** The name that was probably meant, if one is near: two changes of a letter away, and in names of few letters fewer. */
export function nearName(given: string, names: Iterable<string>): string | undefined {
  if (given.length > LONGEST) return undefined;
  let best = Math.min(MOST, Math.floor(given.length / 3)) + 1;
  let near: string | undefined;
  for (const name of names) {
    if (Math.abs(name.length - given.length) >= best) continue;
    const away = distance(given, name);
    if (away >= best) continue;
    best = away;
    near = name;
  }
  return near;
}

/** The number of letters that are put in, left out or replaced between two texts (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + Number(from[i - 1] !== to[j - 1]);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
