import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { StoreError } from '../append.js';

/** Reason why a database could not be opened; `details.reason` of the error. */
export type PostgresOpenFailure =
  | 'driver'
  | 'options'
  | 'unreachable'
  | 'unwritable'
  | 'setting'
  | 'version'
  | 'foreign'
  | 'schema'
  | 'deaf';

export function storeFailed(reason: PostgresOpenFailure, text: string, cause?: unknown): GatewayError {
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

/** Invalid authorization and missing privileges, which waiting does not mend. */
const DENIED = /^(28...|3D000|42501|3F000)$/;

/** The error to report about a database that could not be opened. */
export function openFailure(error: unknown): unknown {
  if (isGatewayError(error)) return error;
  const { code = '', message } = error as ServerError;
  if (DENIED.test(code)) return storeFailed('unwritable', `refuses: ${message}`, error);
  return storeFailed('unreachable', `cannot be used now: ${message || code}`, error);
}

/** Codes of a server that ends, or of its pooler: connections, shutdowns, system errors and internal errors. */
const ENDS = /^(08...|25P03|57P..|58...|XX...)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * Codes about the data, which fails again: cardinality, data exceptions, constraints and program limits. A key that is there twice is left out: two
 * gateways at the same moment may cause it.
 */
const OF_DATA = /^((21|22|54)...|23(?!505)...)$/;

/** The server has no room left on its disk. */
const DISK_FULL = '53100';

/** The server, the database or the role may have no more connections. */
const TOO_MANY = '53300';

/** Whether the server has no room for another connection. */
export const isShortage = (error: unknown): boolean => (error as ServerError).code === TOO_MANY;

/** Whether the server's SQLSTATE means that it has done nothing. */
export function isRefusal(error: unknown): boolean {
  const { code = '' } = error as ServerError;
  return SQLSTATE.test(code) && !ENDS.test(code);
}

/** Whether the server says, in English, that the connection continues. Servers in other languages use other words. */
export const goesOn = (error: unknown): boolean => (error as ServerError).severity === 'ERROR';

/** The error of a call whose reply was lost: its work may be done. */
export function unknown(error: unknown): StoreError {
  return new StoreError('UNKNOWN', 'PostgreSQL did not say whether it made the change', { cause: error });
}

/** The error of a call that was not made, or that can safely be made again. */
export function unavailable(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { code = '' } = error as ServerError;
  return OF_DATA.test(code)
    ? new StoreError('REFUSED', 'PostgreSQL cannot keep this data', { cause: error })
    : new StoreError('UNAVAILABLE', 'PostgreSQL cannot be used', {
        cause: error,
        isFull: code === DISK_FULL,
      });
}
