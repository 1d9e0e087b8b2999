import type { EventDraft } from '../../shared/events.js';

/** A piece of an answer's text or reasoning. */
export type Delta = Extract<EventDraft, { readonly type: 'content_delta' | 'reasoning_delta' }>;

/** Pieces of one block of an answer, joined into one delta. */
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

  /** Adds a piece that continues the others, or the first one. Returns whether it did. */
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

  /** Whether it holds no piece. */
  get isEmpty(): boolean {
    return this.#first === null;
  }

  /** Removes the pieces and returns them as one delta; null if there are none. */
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
