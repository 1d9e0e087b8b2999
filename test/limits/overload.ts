/** An answer: so many pieces, one each so many milliseconds. */
export const PIECES = 100;
export const PIECE_MS = 20;

/** What became of a load. */
export interface Outcome {
  readonly accepted: number;
  readonly refused: number;
  /** Refusals without `Retry-After`, or with another code. */
  readonly odd: readonly string[];
  /** Answers that did not end well. */
  readonly broken: number;
  /** Milliseconds from when a piece was due to its receipt, for 99 of 100 pieces at most. */
  readonly p99: number;
  /** Milliseconds from the last send until the gateway called itself ready; 0 where it always did. */
  readonly backMs: number;
}
