import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../shared/errors.js';
import type { ClientAddress } from '../auth/client-address.js';
import type { AuthRequest } from '../auth/types.js';
import { readOrigin } from '../config/origins.js';
import { isPromise } from '../maybe-promise.js';
import { authRequest } from './auth-request.js';

/**
 * Origins of other sites whose pages may call, as browsers write them (`https://app.example`), or a function that answers at once
 * whether this one may. It is asked once for each request with an `Origin`, never about `null`; a throw refuses.
 */
export type Origins = readonly string[] | ((origin: string, request: AuthRequest) => boolean);

/** Whether an origin is let in. */
export type AllowsOrigin = (origin: string, request: IncomingMessage) => boolean;

interface Needs {
  readonly addressOf: ClientAddress;
  readonly report: (error: unknown, what: string) => void;
}

/** @param origins As they are after the configuration was checked. */
export function allowedOrigins(origins: Origins, { addressOf, report }: Needs): AllowsOrigin {
  if (typeof origins !== 'function') {
    const listed = new Set(origins);
    return (origin) => listed.has(origin);
  }
  return (origin, request) => {
    if (readOrigin(origin).origin !== origin) return false;
    try {
      const answer: unknown = origins(origin, authRequest(request, addressOf(request)));
      if (typeof answer === 'boolean') return answer;
      // It counts for nothing, and neither may its failure.
      if (isPromise(answer)) answer.then(undefined, () => {});
      const message = 'The function origins has to answer true or false, at once';
      throw new GatewayError({ code: 'INTERNAL', message });
    } catch (error) {
      report(error, 'origins failed');
      return false;
    }
  };
}
