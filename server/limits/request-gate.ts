import type { IncomingMessage } from 'node:http';
import type { ClientAddress } from '../auth/client-address.js';
import { AddressGate } from './address-gate.js';

/** Something that says when it is over. */
interface Closing {
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** Counts what each client's address has in progress, before anybody knows who it is. */
export class RequestGate {
  readonly #gate: AddressGate;
  readonly #addressOf: ClientAddress;
  readonly #onCrowded: (address: string) => void;

  constructor(limit: number, addressOf: ClientAddress, onCrowded: (address: string) => void) {
    this.#gate = new AddressGate(limit, 'limits.requestsPerAddress');
    this.#addressOf = addressOf;
    this.#onCrowded = onCrowded;
  }

  /**
   * Lets a request in until its answer, or its socket, is closed.
   *
   * @throws GatewayError `TOO_MANY_CONNECTIONS`
   */
  enter(request: IncomingMessage, answer: Closing): void {
    if (answer.closed) return;
    const address = this.#addressOf(request);
    try {
      answer.once('close', this.#gate.enter(address));
    } catch (error) {
      this.#onCrowded(address);
      throw error;
    }
  }
}
