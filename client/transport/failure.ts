import { GatewayError, isGatewayError } from '../../shared/gateway-error.js';

const unsentErrors = new WeakSet<GatewayError>();

/** Marks the error of a request that surely did not reach a gateway. */
export function unsent(error: GatewayError): GatewayError {
  unsentErrors.add(error);
  return error;
}

/** Whether the request of this error surely did not reach a gateway. */
export function isUnsent(error: GatewayError): boolean {
  return unsentErrors.has(error);
}

/** What the network did, whose effect is unknown. */
export function networkError(message: string, cause?: unknown): GatewayError {
  return new GatewayError({ code: 'NETWORK', message, cause });
}

/** What the caller has to change. */
export function misused(message: string, cause?: unknown): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', status: 400, message, cause });
}

/** What is not ours is a failure of the network, whose effect is unknown. */
export function asGatewayError(cause: unknown, message: string): GatewayError {
  if (isGatewayError(cause)) return cause;
  const reason = (cause as Error | undefined)?.message;
  return networkError(reason ? `${message}: ${reason}` : message, cause);
}

/** The error of a connection on which nothing came any more. */
export function silence(): GatewayError {
  return networkError('The connection fell silent: no heartbeat came in time');
}
