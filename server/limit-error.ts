import { fieldError } from '../shared/errors.js';
import { GatewayError, type GatewayErrorInit } from '../shared/gateway-error.js';

/** What a limit or another option refuses. Callers are told no more than of any other error: which option it was is for the log. */
export class LimitError extends GatewayError {
  readonly #option: string;

  /** @param option Such as `limits.queueLength`. */
  constructor(option: string, error: GatewayErrorInit) {
    super(error);
    this.#option = option;
  }

  get option(): string {
    return this.#option;
  }
}

/** What an option refuses of a field that a caller gave. @param option Named in the message too, for whoever writes the client */
export function refusedField(option: string, path: string, message: string): LimitError {
  const { code, message: whole, details } = fieldError(path, `${message}; ${option} allows it`);
  return new LimitError(option, { code, message: whole, details });
}

/** The option by which a request was refused; undefined where that is none's doing. */
export function optionOf(error: GatewayError): string | undefined {
  return error instanceof LimitError ? error.option : undefined;
}
