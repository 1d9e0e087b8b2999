export { type ResponsesOptions, responsesPlugin } from './plugin.js';
export { openaiWebhooks } from './webhooks.js';
