export { type LangGraphOptions, langGraphPlugin } from './plugin.js';
