/** The part of a repeated model answer that readers have not received. If the answer differs from the one before, all of it counts from there on. */
export class Unsaid {
  /** The part of the text that readers have received which was said again, and the part that was not yet. */
  #again = '';
  #left: string;

  /** @param said The text that readers have received. */
  constructor(said: string) {
    this.#left = said;
  }

  /** The part of a piece that readers have not received. */
  take(delta: string): string {
    const left = this.#left;
    if (left === '') return delta;
    if (left.startsWith(delta)) {
      this.#again += delta;
      this.#left = left.slice(delta.length);
      return '';
    }
    this.#left = '';
    return delta.startsWith(left) ? delta.slice(left.length) : this.#again + delta;
  }
}
