export { mcpServerPlugin } from './mcp-server-plugin.js';
export type { McpConfirmUrl, McpLimits, McpServerPluginOptions, McpToolFilter } from './options.js';
