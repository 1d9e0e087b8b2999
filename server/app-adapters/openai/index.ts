export type { ChatMessage, ChatPart, ChatToolCall } from '../../chat-format/chat-types.js';
export { fromChatMessages } from '../../chat-format/from-chat.js';
export { toChatMessages } from '../../chat-format/to-chat.js';
export type { ModelAppOptions } from '../model-app.js';
export { type BackgroundOptions, backgroundResponse } from './background-response.js';
export { type OpenAIAppOptions, type OpenAIEndpoint, openaiApp } from './openai-app.js';
export type { OpenAIClient, ResponseEvent, ResponsesClient } from './sdk.js';
