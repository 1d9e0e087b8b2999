export { type PlaygroundOptions, playgroundPlugin } from './plugin.js';
