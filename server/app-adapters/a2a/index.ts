export { type A2aAppOptions, a2aApp } from './app.js';
