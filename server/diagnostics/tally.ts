/** Counts facts by their fields. */
export class FactTally<Fact extends object> {
  readonly #counts = new Map<string, Fact & { readonly count: number }>();

  count(fact: Fact): void {
    const key = JSON.stringify(fact);
    const { count = 0 } = this.#counts.get(key) ?? {};
    this.#counts.set(key, { ...fact, count: count + 1 });
  }

  get counts(): readonly (Fact & { readonly count: number })[] {
    return [...this.#counts.values()];
  }
}
