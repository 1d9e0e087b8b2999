import { type ErrorBody, GatewayError, isGatewayError } from '../../shared/errors.js';
import type { LogFacts, Report } from '../diagnostics/log-facts.js';
import { newRequestId } from '../ids.js';
import { optionOf } from '../limit-error.js';

/** The known facts about the request that failed. */
export interface FailedRequest {
  readonly requestId?: string | undefined;
  /** Facts about the request, for the operator's log. */
  facts?(): LogFacts;
}

/**
 * Converts an error to one that clients may see: the gateway's own errors unchanged, all others as `INTERNAL` with an id that the log has
 * too. The result can be written on every wire: its status is an HTTP error status, its fields are JSON.
 */
export function publicError(error: unknown, report: Report, request?: FailedRequest): GatewayError {
  try {
    if (isGatewayError(error)) {
      const wellFormed = isWellFormed(error);
      if (wellFormed) warnOfLimit(error, report, request);
      if (wellFormed && (error.code !== 'INTERNAL' || error.cause === undefined)) return error;
      if (wellFormed) {
        return new GatewayError({
          ...error.toJSON(),
          status: error.status,
          requestId: reported(error, report, request),
        });
      }
    }
  } catch {
    // A getter or `toJSON` of the error itself throws.
  }
  const named = reported(error, report, request);
  return isGatewayError(error)
    ? mended(error, named)
    : new GatewayError({ code: 'INTERNAL', requestId: named });
}

/** The same as `publicError`, in the wire's form, which names the request. */
export function errorBody(error: unknown, report: Report, request?: FailedRequest): ErrorBody {
  const requestId = request?.requestId ?? newRequestId();
  const facts = (): LogFacts => request?.facts?.() ?? {};
  return { ...publicError(error, report, { requestId, facts }).toJSON(), requestId };
}

function reported(error: unknown, report: Report, request?: FailedRequest): string {
  const requestId = request?.requestId ?? newRequestId();
  report(error, `request ${requestId} failed`, { ...request?.facts?.(), requestId });
  return requestId;
}

/** Logs that a limit refused a request, since the operator may want another value for its option. */
function warnOfLimit(error: GatewayError, report: Report, request?: FailedRequest): void {
  const option = optionOf(error);
  if (option === undefined) return;
  const { requestId } = request ?? {};
  const why = { code: error.code, reason: error.message, option };
  report.warn?.(`a request was refused by ${option}`, { ...request?.facts?.(), requestId, ...why });
}

/** Whether an error can be written on every wire. Statuses below 400 pass, also the client's own 0; they become 500 on the wire. */
function isWellFormed(error: GatewayError): boolean {
  const { code, message, status, retryAfterMs, details, toJSON } = error;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof toJSON !== 'function') return false;
  if (!Number.isInteger(status) || status < 0 || status > 599) return false;
  if (retryAfterMs !== undefined && !(Number.isFinite(retryAfterMs) && retryAfterMs >= 0)) return false;
  // A host's details may be no JSON, and its own error class may have a `toJSON` that throws.
  if (details !== undefined || toJSON !== GatewayError.prototype.toJSON) JSON.stringify(error);
  return true;
}

/** Reduces a host's error that no wire can carry to its code, its message and a status. */
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
