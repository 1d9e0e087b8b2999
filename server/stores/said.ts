import { cut } from '../../shared/cut.js';
import type { LogRef, SessionRef } from './stored.js';

/** Characters that an index keeps of a message. */
const MOST_CHARS = 64 * 1024;

/** A message that a conversation shows, for search. */
export interface SaidText {
  /** Number of messages on the path that ends with it. It takes the place of the text that was there. */
  readonly depth: number;
  readonly messageId: string;
  readonly role: 'user' | 'assistant';
  /** When it was said, in milliseconds since the epoch. */
  readonly at: number;
  /** Empty if nothing is to be found of it. */
  readonly text: string;
  /** There was no text at its depth, so that the store need not look for one. */
  readonly isNew?: true;
}

/** Changes of the texts of a conversation. The texts of a log go when it is closed or dropped. */
export interface SaidChanges {
  /** Depth from which on all texts go, before others are put. @default none */
  readonly from?: number;
  readonly put: readonly SaidText[];
}

/** Texts of a scope, of an app in it, or of one log. */
export type SaidWithin = { readonly scope: string; readonly app?: string; readonly epoch?: never } | LogRef;

/** A search. Its words are those of `askedWords`; a text is found if it has all of them. */
export interface SaidQuery {
  /** The places to look in: any of them counts. */
  readonly within: readonly SaidWithin[];
  readonly words: readonly string[];
  /** Only what was said from this time on, in milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Only what was said before this time. */
  readonly to?: number | undefined;
  /** Texts that are looked at, at most. */
  readonly limit: number;
  /** Characters of texts after which the page ends. */
  readonly chars: number;
  /** The `next` of the page before. */
  readonly before?: number | undefined;
}

/** A text that was found. */
export interface SaidHit extends Omit<SaidText, 'depth' | 'isNew'> {
  readonly ref: SessionRef;
  readonly epoch: string;
  /** Place and term of the last event of the append that brought it. */
  readonly seq: number;
  readonly term: number;
  /** Its place in the store's order: a page that begins before the next number begins with it. */
  readonly place: number;
}

/** A page of texts, the one first that was kept last. */
export interface SaidPage {
  readonly hits: readonly SaidHit[];
  /** Asks for the next page, also if this one is empty; null on the last one. */
  readonly next: number | null;
}

/** Whether something was said in the time that a search asks for. */
export const isWithinTime = (
  { at }: Pick<SaidText, 'at'>,
  { from, to }: Pick<SaidQuery, 'from' | 'to'>,
): boolean => (from === undefined || at >= from) && (to === undefined || at < to);

/** The part of a text that is found. */
export const keptText = (text: string): string => cut(text, MOST_CHARS);

/** The page that a store's first texts make. @param found The newest texts that match, whenever they were said: as many as the query's limit, if there are so many */
export function pageOf(found: readonly SaidHit[], { limit, chars, from, to }: SaidQuery): SaidPage {
  const hits: SaidHit[] = [];
  let left = chars;
  for (const hit of found) {
    if (!isWithinTime(hit, { from, to })) continue;
    hits.push(hit);
    left -= hit.text.length;
    if (left <= 0 && hit !== found.at(-1)) return { hits, next: hit.place };
  }
  return { hits, next: found.length < limit ? null : found.at(-1)!.place };
}
