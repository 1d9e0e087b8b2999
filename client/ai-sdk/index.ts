export type { UiMessage, UiPart } from '../../shared/ui-stream/chunks.js';
export type { UiMessageInfo, UiStreamOptions } from '../../shared/ui-stream/options.js';
export { type GatewayChat, type GatewayChatOptions, gatewayChat, type SentChat } from './gateway-chat.js';
