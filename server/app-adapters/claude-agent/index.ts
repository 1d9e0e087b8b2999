export { type ClaudeAgentAppOptions, claudeAgentApp } from './claude-agent-app.js';
export type { QueryClaude } from './sdk.js';
