export { mcpServerPlugin } from './mcp-server-plugin.js';
export type { McpLimits, McpServerPluginOptions, McpToolFilter } from './options.js';
