/** How many chunks of a stream its receiver still takes. */
export class ChunkWindow {
  #left: number;
  #wake: (() => void) | null = null;

  /** @param size Chunks that may be sent before `more` allows more; without one there is no bound. */
  constructor(size: number | undefined) {
    this.#left = size ?? Number.POSITIVE_INFINITY;
  }

  more(count: number): void {
    this.#left += count;
    this.#wake?.();
    this.#wake = null;
  }

  /** Resolves once a chunk may be sent, which then counts as sent; null when that is now. */
  take(): Promise<void> | null {
    if (this.#left > 0) {
      this.#left -= 1;
      return null;
    }
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => this.take() ?? undefined);
  }

  /** Nobody receives any more. */
  close(): void {
    this.more(Number.POSITIVE_INFINITY);
  }
}
