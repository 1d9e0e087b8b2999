export { type AiSdkAppOptions, aiSdkApp } from './ai-sdk-app.js';
export { fromModelMessages } from './from-model-messages.js';
export type {
  AiSdkAgent,
  AiSdkRun,
  AiSdkStream,
  Durable,
  StreamTextSettings,
} from './sources.js';
export { type ToModelMessagesOptions, toModelMessages } from './to-model-messages.js';
