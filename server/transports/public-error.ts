import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { newRequestId } from '../ids.js';

type Report = (error: unknown, what: string) => void;

/**
 * What of an error may be told: the gateway's own as they are, anything else as `INTERNAL` with an id that the log has too. The
 * result can be written on every wire, whatever was thrown: its status is one of HTTP's for errors, its fields are JSON.
 */
export function publicError(error: unknown, report: Report): GatewayError {
  try {
    if (isGatewayError(error)) {
      const wellFormed = isWellFormed(error);
      if (wellFormed && (error.code !== 'INTERNAL' || error.cause === undefined)) return error;
      if (wellFormed) {
        const requestId = reported(error, report);
        return new GatewayError({ ...error.toJSON(), status: error.status, requestId });
      }
    }
  } catch {
    // It is the error's own code that fails.
  }
  return isGatewayError(error)
    ? mended(error, reported(error, report))
    : new GatewayError({ code: 'INTERNAL', requestId: reported(error, report) });
}

function reported(error: unknown, report: Report): string {
  const requestId = newRequestId();
  report(error, `request ${requestId} failed`);
  return requestId;
}

/** A status below 400 is 500 on the wire, 0 among them: the client's own. */
function isWellFormed(error: GatewayError): boolean {
  const { code, message, status, retryAfterMs, details, toJSON } = error;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof toJSON !== 'function') return false;
  if (!Number.isInteger(status) || status < 0 || status > 599) return false;
  if (retryAfterMs !== undefined && !(Number.isFinite(retryAfterMs) && retryAfterMs >= 0)) return false;
  // A host's details may be no JSON, and a class of its own may have a `toJSON` that fails.
  if (details !== undefined || toJSON !== GatewayError.prototype.toJSON) JSON.stringify(error);
  return true;
}

/** What is left of an error of the host's that no wire can carry: its code, its message and a status. */
function mended(error: GatewayError, requestId: string): GatewayError {
  try {
    const { code, message, status } = error;
    const known = Number.isInteger(status) && status >= 400 && status <= 599;
    return new GatewayError({
      code: typeof code === 'string' ? code : 'INTERNAL',
      ...(typeof message === 'string' && { message }),
      ...{ status: known ? status : 500, requestId },
    });
  } catch {
    return new GatewayError({ code: 'INTERNAL', requestId });
  }
}
