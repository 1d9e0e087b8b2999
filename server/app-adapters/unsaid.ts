/** The part of a repeated model answer that readers have not received. If the answer differs from the one before, all of it counts from there on. */
export class Unsaid {
  #said: string;
  #at = 0;

  /** @param said The text that readers have received. */
  constructor(said: string) {
    this.#said = said;
  }

  /** The part of a piece that readers have not received. */
  take(delta: string): string {
    const left = this.#said.length - this.#at;
    if (left === 0) return delta;
    const same = delta.length <= left;
    if (same ? this.#said.startsWith(delta, this.#at) : delta.startsWith(this.#said.slice(this.#at))) {
      this.#at += same ? delta.length : left;
      return same ? '' : delta.slice(left);
    }
    const all = this.#said.slice(0, this.#at) + delta;
    this.#said = '';
    this.#at = 0;
    return all;
  }
}
