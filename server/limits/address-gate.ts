import { GatewayError } from '../../shared/errors.js';
import { addressKey } from '../auth/address.js';

/** What one address has under way. Each that leaves calls the same function: one of its own for each would be made for every request. */
class Tally {
  count = 0;
  readonly #emptied: () => void;

  constructor(emptied: () => void) {
    this.#emptied = emptied;
  }

  readonly leave = (): void => {
    this.count -= 1;
    if (this.count === 0) this.#emptied();
  };
}

/** Counts what one address has under way before anybody knows who it is. */
export class AddressGate {
  readonly #limit: number;
  readonly #name: string;
  readonly #tallies = new Map<string, Tally>();

  /** @param name Of the limit, for the message. */
  constructor(limit: number, name: string) {
    this.#limit = limit;
    this.#name = name;
  }

  /** Addresses with something under way. */
  get size(): number {
    return this.#tallies.size;
  }

  /**
   * Lets one more in; what it returns is to be called once when that is over.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS` when the address has as many as it may.
   */
  enter(address: string): () => void {
    const key = addressKey(address);
    const tally = this.#tallies.get(key) ?? this.#add(key);
    if (tally.count >= this.#limit) {
      throw new GatewayError({
        code: 'TOO_MANY_CONNECTIONS',
        message: `An address can have ${this.#limit} at a time (${this.#name}); behind a proxy, trustProxy tells its clients apart`,
        retryAfterMs: 1000,
      });
    }
    tally.count += 1;
    return tally.leave;
  }

  #add(key: string): Tally {
    const tally = new Tally(() => this.#tallies.delete(key));
    this.#tallies.set(key, tally);
    return tally;
  }
}

/** Something that says when it is over. */
interface Closing {
  readonly closed: boolean;
  on(event: 'close', listener: () => void): unknown;
}

/** Counts what each client's address has in progress, before anybody knows who it is. */
export class RequestGate {
  readonly #gate: AddressGate;
  readonly #onCrowded: (address: string) => void;

  constructor(limit: number, onCrowded: (address: string) => void) {
    this.#gate = new AddressGate(limit, 'limits.requestsPerAddress');
    this.#onCrowded = onCrowded;
  }

  /**
   * Lets a request of an address in until its answer, or its socket, is closed.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS`
   */
  enter(address: string, answer: Closing): void {
    if (answer.closed) return;
    try {
      answer.on('close', this.#gate.enter(address));
    } catch (error) {
      this.#onCrowded(address);
      throw error;
    }
  }
}
