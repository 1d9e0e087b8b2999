export { mcpServerPlugin } from './mcp-server-plugin.js';
export type {
  McpConfirmUrl,
  McpLimits,
  McpServerPluginOptions,
  McpSignIn,
  McpToolFilter,
} from './options.js';
