import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../shared/errors.js';
import { isPromise } from '../async/maybe-promise.js';
import type { ClientAddress } from '../auth/client-address.js';
import { type Origins, readOrigin } from '../config/origins.js';
import { authRequest } from './request.js';

/** Whether an origin is let in. */
export type AllowsOrigin = (origin: string, request: IncomingMessage) => boolean;

interface Needs {
  readonly addressOf: ClientAddress;
  readonly report: (error: unknown, what: string) => void;
}

/** @param origins The checked option `origins` */
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
      // The promise does not count, so its rejection must not end the process.
      if (isPromise(answer)) answer.then(undefined, () => {});
      const message = 'The function origins must return true or false, not a promise';
      throw new GatewayError({ code: 'INTERNAL', message });
    } catch (error) {
      report(error, 'origins failed');
      return false;
    }
  };
}
