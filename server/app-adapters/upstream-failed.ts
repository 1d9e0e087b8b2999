import { GatewayError, isGatewayError } from '../../shared/errors.js';

/** The error of a run whose model or framework failed. Only the log gets the original text, not clients. */
export function upstreamFailed(cause: unknown): GatewayError {
  return isGatewayError(cause) ? cause : new GatewayError({ code: 'UPSTREAM_FAILED', cause });
}
