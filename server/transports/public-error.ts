import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { newRequestId } from '../ids.js';

/** What of an error may be told: the gateway's own as they are, anything else as `INTERNAL` with an id that the log has too. */
export function publicError(error: unknown, report: (error: unknown, what: string) => void): GatewayError {
  if (isGatewayError(error) && (error.code !== 'INTERNAL' || error.cause === undefined)) return error;
  const requestId = newRequestId();
  report(error, `request ${requestId} failed`);
  return isGatewayError(error)
    ? new GatewayError({ ...error.toJSON(), status: error.status, requestId })
    : new GatewayError({ code: 'INTERNAL', requestId });
}
