export { type A2aOptions, a2aPlugin } from './plugin.js';
