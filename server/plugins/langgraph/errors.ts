import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/errors.js';
import { beginError, saidOf, sendJson } from '../conversation/answering.js';

/** Answers with an error in the form of the classic routes. */
export function sendLangGraphError(error: GatewayError, response: ServerResponse): void {
  const status = beginError(error, response);
  if (status === null) return;
  const detail = saidOf(error);
  sendJson(response, { error: error.code, message: detail, detail }, status);
}
