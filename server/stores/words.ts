import { createHash } from 'node:crypto';

/** Characters that an index keeps of a word. */
const MOST_CHARS = 48;
/** Characters of all words that an index keeps of a text: PostgreSQL takes a megabyte. */
const MOST_IN_ALL = 128 * 1024;
/** Shorter words are looked for as they are: their beginnings would be found everywhere. */
const WHOLE_BELOW = 3;
/** Writing without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** A word, or a run of characters in writing without spaces. */
const MIXED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\u30fc]+|(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])[\p{L}\p{N}\p{M}])+/gu;
const SPACED = /[\p{L}\p{N}\p{M}]+/gu;
const PLAIN = /[A-Za-z0-9]+/g;
const ASCII = /^[\0-\x7f]*$/;

/** The words of a text by the least expression that finds them: most texts are in writing with spaces, and many in ASCII. */
const expressionFor = (text: string): RegExp =>
  ASCII.test(text) ? PLAIN : UNSPACED.test(text) ? MIXED : SPACED;

/** A word of a text, and its place. */
export interface PlacedWord {
  /** In the form that searches compare. */
  readonly word: string;
  readonly at: number;
  /** Its length in the text, in units of UTF-16. */
  readonly length: number;
  /** Whether it is a run of characters in writing without spaces. */
  readonly isRun: boolean;
}

/** Letter case, variants of Unicode and accents of Latin, Greek and Cyrillic letters are equal. */
const folded = (word: string): string =>
  ASCII.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFKD')
        .replace(/[\u0300-\u036f]/g, '')
        .normalize('NFC')
        .toLowerCase();

/** The words of a text, in order. */
export function* wordsIn(text: string): Generator<PlacedWord> {
  const expression = expressionFor(text);
  for (const { 0: found, index: at } of text.matchAll(expression)) {
    const word = folded(found);
    if (word === '') continue;
    yield { word, at, length: found.length, isRun: expression === MIXED && UNSPACED.test(found) };
  }
}

/** A run as an index has it: each two characters that follow one another, and the last one. */
function* pairsOf(run: string): Generator<string> {
  let before = '';
  for (const character of run) {
    if (before !== '') yield before + character;
    before = character;
  }
  yield before;
}

const short = (word: string): string =>
  word.length <= MOST_CHARS ? word : [...word].slice(0, MOST_CHARS).join('');

/** The words under which an index finds a text, each once. They are letters, marks and digits, in lower case. */
export function indexedWords(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  let left = MOST_IN_ALL;
  const add = (word: string): void => {
    if (words.has(word)) return;
    left -= word.length;
    if (left >= 0) words.add(word);
  };
  // Every append does this, and most texts are so simple.
  if (ASCII.test(text)) {
    for (const word of text.toLowerCase().match(PLAIN) ?? []) words.add(short(word));
    return words;
  }
  const expression = expressionFor(text);
  for (const found of text.match(expression) ?? []) {
    const word = folded(found);
    if (left < 0) break;
    if (expression === MIXED && UNSPACED.test(found)) for (const pair of pairsOf(word)) add(pair);
    else if (word !== '') add(short(word));
  }
  return words;
}

/** The words of a text as one text, for `hasWords`. */
export const wordsText = (text: string): string => ` ${[...indexedWords(text)].join(' ')} `;

/** Whether a word of `askedWords` stands for all that begin with it. */
export const isBeginning = (word: string): boolean => word.endsWith('*');
/** A word of `askedWords` without its sign. */
export const bare = (word: string): string => word.replace('*', '');

/** Whether a text has all words of `askedWords`. @param words The result of `wordsText` */
export const hasWords = (words: string, asked: readonly string[]): boolean =>
  asked.every((word) => words.includes(isBeginning(word) ? ` ${bare(word)}` : ` ${word} `));

/** The words that a text must have to be found. One that ends with `*` stands for all that begin with it. */
export function askedWords(query: string): readonly string[] {
  const asked = new Set<string>();
  for (const { word, isRun } of wordsIn(query)) {
    const pairs = isRun ? [...pairsOf(word)] : [];
    // The last character is a pair's beginning in longer runs.
    if (pairs.length > 1) pairs.pop();
    else if (pairs.length === 1) pairs[0] += '*';
    for (const pair of pairs) asked.add(pair);
    if (!isRun) asked.add(word.length < WHOLE_BELOW ? word : `${short(word)}*`);
  }
  return [...asked];
}

/** Words of places that are remembered. Nearly all texts are of a few scopes. */
const REMEMBERED = 1000;
const placeWords = new Map<string, string>();

/** A word that no text has and that stands for a place, such as a scope. */
export function placeWord(kind: string, ...parts: readonly string[]): string {
  const key = JSON.stringify([kind, ...parts]);
  let word = placeWords.get(key);
  if (word === undefined) {
    word = `_${kind}${createHash('sha256').update(key).digest().subarray(0, 16).toString('hex')}`;
    if (placeWords.size >= REMEMBERED) placeWords.clear();
    placeWords.set(key, word);
  }
  return word;
}
