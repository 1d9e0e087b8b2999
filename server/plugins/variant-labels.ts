import type { Variants } from '../../shared/variants/contract.js';

/** Choices that have labels of their own. */
const MOST = 200;
const OTHER = 'OTHER';

/** The labels of variants. Further choices share one, because an app may make up any number of them. */
export class VariantLabels {
  readonly #known = new Set<string>();

  of(
    app: string,
    variants: Variants = {},
  ): readonly { readonly app: string; readonly variant: string; readonly choice: string }[] {
    return Object.entries(variants).map(([variant, choice]) => {
      const key = JSON.stringify([app, variant, choice]);
      if (this.#known.size < MOST) this.#known.add(key);
      return { app, ...(this.#known.has(key) ? { variant, choice } : { variant: OTHER, choice: OTHER }) };
    });
  }
}
