export { type PlaygroundOptions, playgroundPlugin, type Replayed, type ReplayRequest } from './plugin.js';
