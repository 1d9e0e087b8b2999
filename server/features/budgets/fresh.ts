/** Answers that are shared by all who ask while the same one is not begun yet. */
export class Fresh<Answer> {
  readonly #now = new Map<string, Promise<Answer>>();
  readonly #next = new Map<string, Promise<Answer>>();

  /** An answer that is begun after this call. @param make Begins it */
  get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const now = this.#now.get(key);
    if (!now) {
      const made = make().finally(() => this.#now.delete(key));
      this.#now.set(key, made);
      return made;
    }
    let next = this.#next.get(key);
    if (!next) {
      next = now
        .catch(() => {})
        .then(() => {
          this.#next.delete(key);
          return this.get(key, make);
        });
      this.#next.set(key, next);
    }
    return next;
  }
}
