import { fieldError, GatewayError } from '../../shared/errors.js';

/**
 * The refusal of a caller. `reason` is only for the log: it becomes `cause`, which is not part of the wire form, and never contains a part
 * of the credential.
 */
export function unauthenticated(reason: string, message = 'The credentials are not valid'): GatewayError {
  return new GatewayError({ code: 'UNAUTHENTICATED', message, cause: reason });
}

/** The refusal of a caller that the host did not name, on a gateway where nothing else can authenticate it. */
export function unnamed(): GatewayError {
  return unauthenticated('the host named no user', 'Authentication is required');
}

/** A configuration error of one field of `auth`. */
export function invalidAuth(path: string, message: string): GatewayError {
  return fieldError(path, message, 'INVALID_REQUEST');
}
