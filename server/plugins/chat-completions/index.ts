export { type ChatCompletionsOptions, chatCompletionsPlugin } from './plugin.js';
