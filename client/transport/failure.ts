import type { ClientTransport } from '../../shared/client-transport.js';
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

/** The error of a mistake of the caller's. */
export function misused(message: string, cause?: unknown): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', status: 400, message, cause });
}

/** The address of a transport, for errors. */
export function addressOf({ address, name }: Pick<ClientTransport, 'address' | 'name'>): string {
  return address ?? name;
}

/**
 * Turns any failure into a `GatewayError`. A foreign error counts as a failure of the network, whose effect is unknown.
 *
 * @param what The failure in words, with the address.
 * @param advice A remedy, as a sentence.
 */
export function asGatewayError(cause: unknown, what: string, advice = ''): GatewayError {
  if (isGatewayError(cause)) return cause;
  const message = [what, ...reasonsOf(cause)].join(': ');
  return new GatewayError({ code: 'NETWORK', message: advice ? `${message}. ${advice}` : message, cause });
}

/** The error of an operation that failed without one of its own. */
export function failed(transport: ClientTransport, operation: string, cause: unknown): GatewayError {
  return asGatewayError(cause, `${addressOf(transport)}: ${operation} failed`);
}

/** The error of an address with which no connection can be made. */
export function unreachable(address: string, cause: unknown): GatewayError {
  // Only pages have an origin, and an address of their own.
  const { location } = globalThis as { readonly location?: unknown };
  const origin = location ? ' that allows this origin' : '';
  return asGatewayError(cause, `${address} cannot be reached`, `Is a gateway running there${origin}?`);
}

/** The error of a connection that ended before its requests did. */
export function broken(address: string, cause?: unknown): GatewayError {
  return asGatewayError(cause, `${address} broke off`, 'Requests under way may have been done.');
}

/** The error of an answer that did not come from a gateway. */
export function foreign(address: string, what: string, cause?: unknown): GatewayError {
  return asGatewayError(cause, `${address} answered, but ${what}`, 'Is this the address of a gateway?');
}

/** The error of a connection that fell silent. */
export function silence(address: string): GatewayError {
  return broken(address, 'it fell silent, without a heartbeat');
}

/** The error of a request that was not answered in time. */
export function lateness(address: string, what: string, ms: number): GatewayError {
  const message = `${address}: ${what} was not answered within ${ms} ms. timeoutMs allows more.`;
  return new GatewayError({ code: 'TIMEOUT', message });
}

/** The texts of an error and its causes. Errors of `fetch` tell what happened only in a cause, and some of them only by a code. */
function reasonsOf(cause: unknown): Set<unknown> {
  const reasons = causesOf(cause).map((at) => (typeof at === 'string' ? at : at.message || at.code));
  return new Set(reasons.filter(Boolean));
}

interface FailureCause {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: FailureCause;
}

/** An error and its causes. An error may be its own cause. */
export function causesOf(cause: unknown): FailureCause[] {
  const causes: FailureCause[] = [];
  for (let at = cause as FailureCause | undefined; at && causes.length < 4; at = at.cause) causes.push(at);
  return causes;
}
