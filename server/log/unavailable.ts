import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { StoreError } from '../stores/append.js';

/**
 * The error for a caller whose write the store did not take. Either nothing was done and the caller may try again, or the outcome is
 * unknown and only a send with an idempotency key may be repeated. Data that the store can never keep is `INVALID_PARAMS`.
 */
export function unavailable(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  if (error instanceof StoreError && error.code === 'REFUSED')
    return new GatewayError({ code: 'INVALID_PARAMS', message: 'The store cannot keep this', cause: error });
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

/** The error for a caller whose own write was not tried, so that the outcome is known. */
export function notTried(cause: unknown): GatewayError {
  return unavailable(
    new StoreError('UNAVAILABLE', 'This was not written, because the store failed before', { cause }),
  );
}

/** The error of events that this gateway keeps no longer. */
export const givenUp = (): StoreError =>
  new StoreError('UNKNOWN', 'This gateway gave the session up before the store had all its events');

/** The error for a caller that waited long enough. The work goes on. */
export function unanswered(cause?: unknown): GatewayError {
  return unavailable(
    new StoreError('UNKNOWN', 'The holder of the session did not answer in time', { cause }),
  );
}

/** Calls the store, and converts its failures to errors for callers. */
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
