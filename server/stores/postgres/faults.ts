import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { StoreError } from '../store.js';

/** Why a database could not be opened; in the error's `details.reason`. */
export type OpenFailure =
  | 'driver'
  | 'options'
  | 'unreachable'
  | 'unwritable'
  | 'setting'
  | 'version'
  | 'foreign'
  | 'schema'
  | 'deaf';

export function storeFailed(reason: OpenFailure, text: string, cause?: unknown): GatewayError {
  return new GatewayError({
    code: 'STORE_FAILED',
    message: `PostgreSQL ${text}`,
    details: { reason },
    cause,
  });
}

interface ServerError {
  readonly code?: string;
  readonly severity?: string;
  readonly message: string;
}

/** Invalid authorization and missing privileges, of which waiting mends nothing. */
const DENIED = /^(28...|3D000|42501|3F000)$/;

/** What to tell of a database that could not be opened. */
export function openFailure(error: unknown): unknown {
  if (isGatewayError(error)) return error;
  const { code = '', message } = error as ServerError;
  if (DENIED.test(code)) return storeFailed('unwritable', `refuses: ${message}`, error);
  return storeFailed('unreachable', `cannot be used now: ${message || code}`, error);
}

/** What a server says that ends, or a pooler of one that has: connections, shutdowns, its own system and its own faults. */
const ENDS = /^(08...|25P03|57P..|58...|XX...)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Whether the server says by its SQLSTATE that it has done nothing. */
export function isRefusal(error: unknown): boolean {
  const { code = '' } = error as ServerError;
  return SQLSTATE.test(code) && !ENDS.test(code);
}

/** Whether it says, in English, that its connection goes on. Other languages have other words for that, and for its end. */
export const goesOn = (error: unknown): boolean => (error as ServerError).severity === 'ERROR';

/** A call whose answer was lost: what it was to do may be done. */
export function unknown(error: unknown): StoreError {
  return new StoreError('UNKNOWN', 'PostgreSQL did not say what became of this', { cause: error });
}

/** A call that was not made, or of which that does not matter because it can be made again. */
export function unavailable(error: unknown): StoreError {
  return error instanceof StoreError
    ? error
    : new StoreError('UNAVAILABLE', 'PostgreSQL cannot be used', { cause: error });
}
