/** Counts the chunks of a stream that its receiver still takes. */
export class ChunkWindow {
  #left: number;
  #wake: (() => void) | null = null;

  /** @param size Chunks that may be sent before `more` allows others. @default unbounded */
  constructor(size: number | undefined) {
    this.#left = size ?? Number.POSITIVE_INFINITY;
  }

  more(count: number): void {
    this.#left += count;
    this.#wake?.();
    this.#wake = null;
  }

  /** Counts a chunk as sent. Resolves once it may be sent; null if it may be sent now. */
  take(): Promise<void> | null {
    if (this.#left > 0) {
      this.#left -= 1;
      return null;
    }
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => this.take() ?? undefined);
  }

  /** Ends all waits, because nobody receives chunks any more. */
  close(): void {
    this.more(Number.POSITIVE_INFINITY);
  }
}
