import { GatewayError, isGatewayError } from '../../shared/errors.js';

/** What a failure of the framework behind an app looks like to clients: `UPSTREAM_FAILED`, with the failure itself for the log. */
export function upstreamError(cause: unknown): GatewayError {
  return isGatewayError(cause) ? cause : new GatewayError({ code: 'UPSTREAM_FAILED', cause });
}
