import type { OpenAI } from 'openai';
import { loadPeer } from '../../runtime/optional-peer.js';

/** A client of the package `openai`. */
export type OpenAIClient = Pick<OpenAI, 'chat'>;

/**
 * Loads the package `openai`.
 *
 * @throws GatewayError `INTERNAL` naming the package, if it is not installed
 */
export const loadOpenAI = () => loadPeer('openai', 'openaiApp', () => import('openai'));
