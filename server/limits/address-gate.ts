import { GatewayError } from '../../shared/errors.js';
import { addressKey } from '../auth/address.js';

/** Addresses remembered at least, even with nothing open, so that a frequent caller needs no new tally each time. */
const REMEMBERED = 1000;

/** The open requests or sockets of one address. All share one `leave` function, so that none is made for each request. */
class AddressTally {
  count = 0;

  readonly leave = (): void => {
    this.count -= 1;
  };
}

/** Bounds the open requests or sockets of one address, before its user is known. */
export class AddressGate {
  readonly #limit: number;
  readonly #name: string;
  readonly #tallies = new Map<string, AddressTally>();
  #most = REMEMBERED;

  /** @param name Name of the limit, for the message. */
  constructor(limit: number, name: string) {
    this.#limit = limit;
    this.#name = name;
  }

  /** Remembered addresses: all with something open, and as many again or a thousand. */
  get size(): number {
    return this.#tallies.size;
  }

  /**
   * Lets one more in. Call the returned function once when it ends.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS` when the address has reached its limit.
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

  #add(key: string): AddressTally {
    if (this.#tallies.size >= this.#most) this.#forget();
    const tally = new AddressTally();
    this.#tallies.set(key, tally);
    return tally;
  }

  #forget(): void {
    for (const [key, { count }] of this.#tallies) if (count === 0) this.#tallies.delete(key);
    this.#most = Math.max(REMEMBERED, 2 * this.#tallies.size);
  }
}

/** A response or a socket that reports its end. */
interface Closable {
  readonly closed: boolean;
  on(event: 'close', listener: () => void): unknown;
}

/** Bounds the open requests of each client's address, before its user is known. */
export class RequestGate {
  readonly #gate: AddressGate;
  readonly #onCrowded: (address: string) => void;

  constructor(limit: number, onCrowded: (address: string) => void) {
    this.#gate = new AddressGate(limit, 'limits.requestsPerAddress');
    this.#onCrowded = onCrowded;
  }

  /**
   * Lets a request of an address in until its response, or its socket, is closed.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS`
   */
  enter(address: string, answer: Closable): void {
    if (answer.closed) return;
    try {
      answer.on('close', this.#gate.enter(address));
    } catch (error) {
      this.#onCrowded(address);
      throw error;
    }
  }
}
