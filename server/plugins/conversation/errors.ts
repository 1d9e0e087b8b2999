import type { ServerResponse } from 'node:http';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import { beginError, saidOf, sendBody } from './answering.js';

/** Carries the code of an error: its text is what the user is shown. */
export const ERROR_HEADER = 'x-error-code';

/** Makes an error about a field of a request, or of the options. */
export function fieldError(path: string, message: string): GatewayError {
  return new GatewayError({
    code: 'INVALID_REQUEST',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** Answers with an error as a plain sentence, which interfaces show as it is. Nothing can be said once the response has begun. */
export function sendUiError(error: GatewayError, response: ServerResponse): void {
  const status = beginError(error, response);
  if (status === null) return;
  const headers = { [ERROR_HEADER]: String(error.code) };
  sendBody(response, 'text/plain', saidOf(error), { status, headers });
}

/** The code of an error of the gateway. */
export function codeOf(error: unknown): string | undefined {
  return isGatewayError(error) ? error.code : undefined;
}
