export { type SessionsApiOptions, sessionsApiPlugin } from './plugin.js';
