import { fieldError } from '../shared/errors.js';
import { GatewayError, type GatewayErrorInit } from '../shared/gateway-error.js';

/** A refusal by a limit or another option. Callers get an ordinary error; only the log names the option. */
export class LimitError extends GatewayError {
  readonly #option: string;

  /** @param option Name of the option, such as `limits.queueLength`. */
  constructor(option: string, error: GatewayErrorInit) {
    super(error);
    this.#option = option;
  }

  get option(): string {
    return this.#option;
  }
}

/** A refusal of a caller's field by an option. @param option Also named in the message, for the author of the client */
export function refusedField(option: string, path: string, message: string): LimitError {
  const { code, message: whole, details } = fieldError(path, `${message}; ${option} allows it`);
  return new LimitError(option, { code, message: whole, details });
}

/** The option that refused a request; undefined if none did. */
export function optionOf(error: GatewayError): string | undefined {
  return error instanceof LimitError ? error.option : undefined;
}
