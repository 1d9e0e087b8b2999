/** A piece of a text, and whether the other text has it at this place too. */
export interface Part {
  readonly text: string;
  readonly isShared: boolean;
}

/** Longer texts are shown without their differences, so that the page never waits for them. */
const MOST_WORDS = 1500;

/** Two texts, each in pieces that are of both or of one. */
export function differenceOf(one: string, other: string): readonly [readonly Part[], readonly Part[]] {
  const [a, b] = [wordsIn(one), wordsIn(other)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS)
    return [[{ text: one, isShared: true }], [{ text: other, isShared: true }]];
  const width = b.length + 1;
  // The length of the longest row of words that both ends have, for each pair of places.
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
  const left: Part[] = [];
  const right: Part[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add(left, a[i++]!, true);
      add(right, b[j++]!, true);
    } else if (
      j >= b.length ||
      (i < a.length && longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!)
    )
      add(left, a[i++]!, false);
    else add(right, b[j++]!, false);
  }
  return [left, right];
}

const wordsIn = (text: string): readonly string[] => text.match(/\s*\S+/g) ?? [];

function add(parts: Part[], text: string, isShared: boolean): void {
  const last = parts.at(-1);
  if (last?.isShared === isShared) parts[parts.length - 1] = { text: last.text + text, isShared };
  else parts.push({ text, isShared });
}
