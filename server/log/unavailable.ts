import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
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

/** What a caller is told whose write was not tried, whatever became of others: that is known. */
export function notTried(cause: unknown): GatewayError {
  return unavailable(new StoreError('UNAVAILABLE', 'Not tried', { cause }));
}

/** What a caller is told that waited long enough: the work goes on behind it. */
export function unanswered(cause?: unknown): GatewayError {
  return unavailable(new StoreError('UNKNOWN', 'Not answered in time', { cause }));
}

/** A call of the store whose failure is what callers are told of one. */
export function asUnavailable<T>(call: () => MaybePromise<T>): MaybePromise<T> {
  const failed = (error: unknown): never => {
    throw error instanceof StoreError ? unavailable(error) : error;
  };
  try {
    const answer = call();
    return isPromise(answer) ? answer.catch(failed) : answer;
  } catch (error) {
    return failed(error);
  }
}
