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

  /** Adds a piece. Returns the others if it does not continue them: then it is the first of the next delta. */
  push(piece: Delta): Delta | null {
    if (this.#first && this.#fits(this.#first, piece)) {
      this.#text += piece.delta;
      this.#pieces += 1;
      return null;
    }
    const full = this.take();
    this.#first = piece;
    this.#text = piece.delta;
    this.#pieces = 1;
    return full;
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

  #fits(first: Delta, next: Delta): boolean {
    const continues = next.index === first.index && next.type === first.type && next.runId === first.runId;
    return (
      continues && this.#pieces < this.#mostPieces && this.#text.length + next.delta.length <= this.#mostChars
    );
  }
}
