import type { EventDraft } from '../../shared/events.js';

/** A piece of an answer's text or reasoning. */
export type Delta = Extract<EventDraft, { readonly type: 'content_delta' | 'reasoning_delta' }>;

/** Pieces of one block of an answer, put together as one. */
export class JoinedDelta {
  readonly #mostPieces: number;
  readonly #mostChars: number;
  #first: Delta | null = null;
  #text = '';
  #pieces = 0;

  constructor(most: { readonly pieces?: number; readonly chars?: number }) {
    this.#mostPieces = most.pieces ?? Number.POSITIVE_INFINITY;
    this.#mostChars = most.chars ?? Number.POSITIVE_INFINITY;
  }

  /** Adds a piece where it continues those that are there, or begins with it where there are none. Returns whether it did. */
  add(piece: Delta): boolean {
    const first = this.#first;
    if (!first) {
      this.#first = piece;
      this.#text = piece.delta;
      this.#pieces = 1;
      return true;
    }
    if (!continues(first, piece) || this.#pieces >= this.#mostPieces) return false;
    if (this.#text.length + piece.delta.length > this.#mostChars) return false;
    this.#text += piece.delta;
    this.#pieces += 1;
    return true;
  }

  /** Whether there is no piece. */
  get isEmpty(): boolean {
    return this.#first === null;
  }

  /** Gives the pieces as one, and has none from then on. Null where there were none. */
  take(): Delta | null {
    const first = this.#first;
    if (!first) return null;
    const delta = this.#text;
    const { type, runId, ts, index } = first;
    this.#first = null;
    this.#text = '';
    return this.#pieces === 1 ? first : { type, runId, ts, delta, index };
  }
}

function continues(delta: Delta, next: Delta): boolean {
  return next.index === delta.index && next.type === delta.type && next.runId === delta.runId;
}
