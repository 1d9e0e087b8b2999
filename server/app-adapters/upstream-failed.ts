import { GatewayError, isGatewayError } from '../../shared/errors.js';

/** What a run ends with when the model or the framework behind its app failed: its words are for the log, not for clients. */
export function upstreamFailed(cause: unknown): GatewayError {
  return isGatewayError(cause) ? cause : new GatewayError({ code: 'UPSTREAM_FAILED', cause });
}
