export type { ModelAppOptions } from '../model-app.js';
export { type AnthropicAppOptions, type AnthropicEndpoint, anthropicApp } from './anthropic-app.js';
export type { AnthropicClient, AnthropicMessage } from './sdk.js';
export { type AnthropicConversation, toAnthropicMessages } from './to-messages.js';
