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

/** What is not ours is a failure of the network, whose effect is unknown. */
export function asGatewayError(cause: unknown, message: string): GatewayError {
  if (isGatewayError(cause)) return cause;
  const reason = (cause as Error | undefined)?.message;
  return new GatewayError({ code: 'NETWORK', message: reason ? `${message}: ${reason}` : message, cause });
}

const silences = new WeakSet<GatewayError>();

/** The error of a connection on which nothing came any more. */
export function silence(): GatewayError {
  const error = new GatewayError({
    code: 'NETWORK',
    message: 'The connection fell silent: no heartbeat came in time',
  });
  silences.add(error);
  return error;
}

/** Whether a connection ended by silence: perhaps it only needed more time. */
export function isSilence(error: GatewayError): boolean {
  return silences.has(error);
}
