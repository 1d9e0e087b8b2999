import { AddressGate } from './address-gate.js';

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
