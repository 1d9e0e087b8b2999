export { type LangGraphOptions, langGraphApp } from './app.js';
export {
  answerToolCalls,
  type GraphToolDefinition,
  type NodeConfig,
  toolDefinitions,
} from './client-tools.js';
export type {
  CommandClass,
  CompiledGraph,
  GraphMessage,
  GraphMessageMetadata,
  GraphToolCall,
  GraphToolMessage,
} from './graph.js';
export type { Confirmation, Decision, ReadInterrupt } from './interrupts.js';
export { type ConvertedMessage, fromLangGraphMessages, toLangGraphMessages } from './messages.js';
