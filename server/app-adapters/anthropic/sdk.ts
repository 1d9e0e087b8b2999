import type { Anthropic } from '@anthropic-ai/sdk';
import { loadPeer } from '../../runtime/optional-peer.js';

/** A client of the package `@anthropic-ai/sdk`, or of those for other clouds. */
export type AnthropicClient = Pick<Anthropic, 'messages'>;
/** A message of a request. */
export type AnthropicMessage = Anthropic.MessageParam;
/** A block of such a message. */
export type AnthropicBlock = Anthropic.ContentBlockParam;
/** An event of the stream of an answer. */
export type AnthropicEvent = Anthropic.RawMessageStreamEvent;

/**
 * Loads the package `@anthropic-ai/sdk`.
 *
 * @throws GatewayError `INTERNAL` naming the package, if it is not installed
 */
export const loadAnthropic = () =>
  loadPeer('@anthropic-ai/sdk', 'anthropicApp', () => import('@anthropic-ai/sdk'));
