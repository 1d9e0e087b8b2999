import { GatewayError, isGatewayError } from '../../shared/errors.js';

/** What a caller is told when the store did not take a write: nothing was done, and it may try again. */
export function unavailable(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  return new GatewayError({
    code: 'OVERLOADED',
    message: 'The store cannot take this now',
    retryAfterMs: 1000,
    cause: error,
  });
}
