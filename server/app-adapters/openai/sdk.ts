import type { OpenAI } from 'openai';
import { loadPeer } from '../../runtime/optional-peer.js';

/** A client of the package `openai`. */
export type OpenAIClient = Pick<OpenAI, 'chat'>;

/** A client of the package `openai` that asks by the Responses API. */
export type ResponsesClient = Pick<OpenAI, 'responses'>;
/** An answer by the Responses API. */
export type ResponseBody = OpenAI.Responses.Response;
/** An event of the stream of such an answer. */
export type ResponseEvent = OpenAI.Responses.ResponseStreamEvent;

/**
 * Loads the package `openai`.
 *
 * @throws GatewayError `INTERNAL` naming the package, if it is not installed
 */
export const loadOpenAI = () => loadPeer('openai', 'openaiApp', () => import('openai'));
