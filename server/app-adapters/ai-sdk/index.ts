export {
  type AiSdkAgent,
  type AiSdkAppOptions,
  type AiSdkRun,
  type AiSdkStream,
  aiSdkApp,
  type Durable,
  type StreamTextSettings,
} from './ai-sdk-app.js';
export { fromModelMessages } from './from-model-messages.js';
export { type ToModelMessagesOptions, toModelMessages } from './to-model-messages.js';
