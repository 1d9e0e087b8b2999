import { type Errands, errand } from '../cluster/errands.js';
import type { Quotas } from './quotas.js';

/** Uses of a rate by one user or shared identity. */
export type Used = readonly [rate: number, key: string, count: number];

const USED = errand<readonly Used[], void>('rates');

/**
 * Lets gateways on one store report the uses of rates to each other, so that a user has one rate at all of them. A use elsewhere counts
 * only after its report.
 */
export class SharedRates {
  readonly #errands: Errands;
  readonly #everyMs: number;
  readonly #report: (error: unknown, what: string) => void;
  #used = new Map<string, { readonly rate: number; readonly key: string; count: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(errands: Errands, everyMs: number, report: (error: unknown, what: string) => void) {
    this.#errands = errands;
    this.#everyMs = everyMs;
    this.#report = report;
  }

  /** Counts the uses that other gateways report. */
  serve(quotas: Quotas): void {
    this.#errands.on(USED, (used) => {
      for (const [rate, key, count] of used) quotas.spend(rate, key, count);
    });
  }

  /** Notes the use of a rate at this gateway for the next report. */
  readonly used = (rate: number, key: string, units: number): void => {
    const name = `${rate} ${key}`;
    const entry = this.#used.get(name) ?? { rate, key, count: 0 };
    entry.count += units;
    this.#used.set(name, entry);
    this.#timer ??= setTimeout(() => void this.#tell(), this.#everyMs).unref();
  };

  async #tell(): Promise<void> {
    this.#timer = null;
    const used = [...this.#used.values()].map(({ rate, key, count }): Used => [rate, key, count]);
    this.#used = new Map();
    try {
      await this.#errands.askAll(USED, used);
    } catch (error) {
      this.#report(error, 'telling other gateways what of the rates was used');
    }
  }
}
