export { type ResponsesOptions, responsesPlugin } from './plugin.js';
