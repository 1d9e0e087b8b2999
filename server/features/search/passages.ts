import type { SearchHit } from '../../../shared/search/contract.js';
import { type PlacedWord, wordsIn } from '../../stores/words.js';

/** Length of a snippet, in units of UTF-16. */
const SNIPPET = 240;
/** Characters before the first mark of a snippet. */
const BEFORE = 60;
/** Places of words that are looked at in a text. */
const MOST_PLACES = 200;

type Mark = SearchHit['marks'][number];

/** A word of a query. */
type AskedWord = Pick<PlacedWord, 'word' | 'isRun'>;

/** The words of a query in a text. */
export interface Passages {
  /** The weight of the text, whenever it was said. */
  readonly score: number;
  /** The places of the words in the text, in order. */
  readonly places: readonly Mark[];
}

/** A query, read once for many texts. */
export class SearchQuestion {
  readonly #words: readonly AskedWord[];

  constructor(query: string) {
    const words = new Map([...wordsIn(query)].map((word) => [word.word, word]));
    this.#words = [...words.values()];
  }

  /** Finds the words in a text; null if it does not have them all. */
  in(text: string): Passages | null {
    const places: Mark[] = [];
    const counts = this.#words.map(() => 0);
    let length = 0;
    for (const word of wordsIn(text)) {
      length += 1;
      this.#words.forEach((asked, i) => {
        const found = placesIn(word, asked);
        if (found.length === 0) return;
        counts[i]! += found.length * (word.word === asked.word ? 1 : 0.7);
        if (places.length < MOST_PLACES) places.push(...found);
      });
    }
    if (counts.includes(0)) return null;
    // The formula of BM25, with a message of a hundred words as the usual one.
    const norm = 1.2 * (0.25 + (0.75 * length) / 100);
    const score = counts.reduce((sum, count) => sum + (count * 2.2) / (count + norm), 0) / counts.length;
    return { score, places: joined(places) };
  }
}

const NOWHERE: readonly Mark[] = [];

/** The places at which a word of a text is, or begins with, a word of a query. */
function placesIn({ word, at, length, isRun }: PlacedWord, asked: AskedWord): readonly Mark[] {
  // The form that is compared may have another length than the text.
  const isSame = word.length === length;
  if (!isRun || !asked.isRun) {
    const fits = asked.word.length < 3 ? word === asked.word : word.startsWith(asked.word);
    if (!fits || isRun !== asked.isRun) return NOWHERE;
    return [[at, isSame ? at + asked.word.length : at + length]];
  }
  const found: Mark[] = [];
  for (let i = word.indexOf(asked.word); i >= 0; i = word.indexOf(asked.word, i + asked.word.length))
    found.push(isSame ? [at + i, at + i + asked.word.length] : [at, at + length]);
  return found;
}

/** Places in order, those that overlap as one. */
function joined(places: readonly Mark[]): readonly Mark[] {
  const sorted = [...places].sort(([a], [b]) => a - b);
  const result: Mark[] = [];
  for (const [begin, end] of sorted) {
    const last = result.at(-1);
    if (last && begin < last[1]) result[result.length - 1] = [last[0], Math.max(last[1], end)];
    else result.push([begin, end]);
  }
  return result;
}

/** The part of a text with the most places in it. */
export function snippetOf(text: string, places: readonly Mark[]): Pick<SearchHit, 'snippet' | 'marks'> {
  let from = 0;
  let most = 0;
  for (const [i, [begin]] of places.entries()) {
    const count = places.slice(i).filter(([, end]) => end <= begin + SNIPPET - BEFORE).length;
    if (count <= most) continue;
    most = count;
    from = begin;
  }
  const start = beginning(text, Math.max(0, Math.min(from - BEFORE, text.length - SNIPPET)));
  const end = whole(text, Math.min(text.length, start + SNIPPET));
  const lead = start > 0 ? '…' : '';
  // Each white space stays one unit, so that the places stay.
  const shown = text.slice(start, end).replace(/\s/g, ' ');
  const shift = lead.length - start;
  const marks = places
    .filter(([begin, close]) => begin >= start && close <= end)
    .map(([begin, close]): Mark => [begin + shift, close + shift]);
  return { snippet: `${lead}${shown}${end < text.length ? '…' : ''}`, marks };
}

/** A place in a text, a little later if a word begins there. */
function beginning(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + BEFORE / 2).search(/\s/);
  return whole(text, space < 0 ? at : at + space + 1);
}

/** A place in a text that is not within a character. */
const whole = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at);
