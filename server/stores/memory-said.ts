import {
  isWithinTime,
  keptText,
  type SaidChanges,
  type SaidHit,
  type SaidPage,
  type SaidQuery,
} from './said.js';
import type { LogRef, SessionRef } from './stored.js';
import { hasWords, wordsText } from './words.js';

/** Texts that one call looks at. */
const LOOKED_AT = 2000;

interface MemoryText extends SaidHit {
  /** Its `wordsText`, once a search has looked at it. */
  words: string | null;
}

/** The texts of one log. */
interface SaidLog {
  readonly ref: SessionRef;
  /** Their places, by depth. */
  readonly places: Map<number, number>;
}

/** The texts of conversations in memory, in the order in which they came. A search looks at all of them, so many at a time. */
export class MemorySaid {
  #last = 0;
  readonly #texts = new Map<number, MemoryText>();
  /** The logs by their epochs, which are all different. */
  readonly #logs = new Map<string, SaidLog>();

  change({ scope, app, name, epoch }: LogRef, { from, put }: SaidChanges, seq: number, term: number): void {
    let log = this.#logs.get(epoch);
    if (!log) {
      log = { ref: { scope, app, name }, places: new Map() };
      this.#logs.set(epoch, log);
    }
    const { ref, places } = log;
    if (from !== undefined) for (const depth of [...places.keys()]) if (depth >= from) this.#drop(log, depth);
    for (const { depth, isNew, messageId, role, at, text: whole } of put) {
      if (!isNew) this.#drop(log, depth);
      if (whole === '') continue;
      const place = ++this.#last;
      const text = keptText(whole);
      this.#texts.set(place, { messageId, role, at, text, ref, epoch, seq, term, place, words: null });
      places.set(depth, place);
    }
  }

  #drop({ places }: SaidLog, depth: number): void {
    const place = places.get(depth);
    if (place !== undefined) this.#texts.delete(place);
    places.delete(depth);
  }

  /** Drops what was said in a log. */
  drop({ epoch }: LogRef): void {
    for (const place of this.#logs.get(epoch)?.places.values() ?? []) this.#texts.delete(place);
    this.#logs.delete(epoch);
  }

  find(query: SaidQuery): SaidPage {
    const { within, words, limit, chars } = query;
    if (words.length === 0) return { hits: [], next: null };
    const epochs = new Set(within.map(({ epoch }) => epoch));
    const scopes = within.filter(({ epoch }) => epoch === undefined);
    const isIn = ({ epoch, ref }: MemoryText): boolean =>
      epochs.has(epoch) || scopes.some(({ scope, app = ref.app }) => scope === ref.scope && app === ref.app);
    const hits: SaidHit[] = [];
    let left = chars;
    let place = Math.min(query.before ?? Number.POSITIVE_INFINITY, this.#last + 1);
    for (let looked = 0; place > 1; looked++) {
      if (looked >= LOOKED_AT || hits.length >= limit || left <= 0) return { hits, next: place };
      const text = this.#texts.get(--place);
      if (!text || !isIn(text) || !isWithinTime(text, query)) continue;
      text.words ??= wordsText(text.text);
      if (!hasWords(text.words, words)) continue;
      const { words: _, ...hit } = text;
      hits.push(hit);
      left -= hit.text.length;
    }
    return { hits, next: null };
  }
}
