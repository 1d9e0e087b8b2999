import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { StoreError } from '../stores/store.js';

/**
 * What a caller is told when the store did not take a write: nothing was done and it may try again, or, where that is not known,
 * that only a send with an idempotency key may be repeated.
 */
export function unavailable(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  const unknown = error instanceof StoreError && error.code === 'UNKNOWN';
  return new GatewayError({
    code: 'OVERLOADED',
    message: unknown
      ? 'It is not known whether the store took this; repeat it only under the same idempotency key'
      : 'The store cannot take this now',
    ...(unknown && { details: { outcome: 'unknown' } }),
    retryAfterMs: 1000,
    cause: error,
  });
}
