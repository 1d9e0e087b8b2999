export { type AgUiOptions, agUiPlugin } from './plugin.js';
