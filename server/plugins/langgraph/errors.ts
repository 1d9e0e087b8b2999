import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../../shared/errors.js';
import { saidOf, sendError } from '../conversation/answering.js';
import { inTerms } from '../conversation/errors.js';

/** The clients' names for what a request passes on. */
const TERMS = {
  message: 'input.messages',
  messages: 'input.messages',
  parameters: 'input',
  metadata: 'metadata',
  sessionId: 'thread_id',
} as const;

/** An error in the clients' words. */
export const inClientTerms = (error: GatewayError): GatewayError => inTerms(TERMS, error);

/** Answers with an error in the form of the classic routes. */
export function sendLangGraphError(error: GatewayError, response: ServerResponse): void {
  const detail = saidOf(inClientTerms(error));
  sendError(response, error, () => ({ error: error.code, message: detail, detail }));
}
