export { mcpServerPlugin } from './mcp-server-plugin.js';
export type {
  McpConfirmUrl,
  McpLimits,
  McpServerPluginOptions,
  McpSignIn,
  McpTasks,
  McpToolFilter,
} from './options.js';
