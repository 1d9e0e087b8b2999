import { GatewayError } from '../../shared/errors.js';
import { addressKey } from '../auth/address.js';

/** Counts what one address has under way before anybody knows who it is. */
export class AddressGate {
  readonly #limit: number;
  readonly #name: string;
  readonly #counts = new Map<string, number>();

  /** @param name Of the limit, for the message. */
  constructor(limit: number, name: string) {
    this.#limit = limit;
    this.#name = name;
  }

  /** Addresses with something under way. */
  get size(): number {
    return this.#counts.size;
  }

  /**
   * Lets one more in; what it returns is to be called once when that is over.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS` when the address has as many as it may.
   */
  enter(address: string): () => void {
    const key = addressKey(address);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#limit) {
      throw new GatewayError({
        code: 'TOO_MANY_CONNECTIONS',
        message: `An address can have ${this.#limit} at a time (${this.#name}); behind a proxy, trustProxy tells its clients apart`,
        retryAfterMs: 1000,
      });
    }
    this.#counts.set(key, count + 1);
    return () => {
      const left = this.#counts.get(key)! - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
