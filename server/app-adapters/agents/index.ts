export { type AgentsOptions, agentsApp } from './app.js';
export { type ConvertedMessage, fromAgentItems, toAgentItems } from './items.js';
export type { NamedModel } from './next-model.js';
