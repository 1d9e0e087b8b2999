/** What a model that is asked again says beyond what it had said before it was cut off; all of it from where it says something else. */
export class Unsaid {
  #said: string;
  #at = 0;

  /** @param said What readers have been told. */
  constructor(said: string) {
    this.#said = said;
  }

  /** What is to be said of a piece. */
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
