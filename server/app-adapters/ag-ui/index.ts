export { type AgUiAppOptions, type AgUiInput, agUiApp } from './app.js';
