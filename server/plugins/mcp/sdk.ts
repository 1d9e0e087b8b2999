import type * as Node from '@modelcontextprotocol/node';
import type * as Sdk from '@modelcontextprotocol/server';
import { loadPeer } from '../../runtime/optional-peer.js';

export type { NodeIncomingMessageLike, NodeMcpRequestHandler } from '@modelcontextprotocol/node';
export type {
  AuthInfo,
  CallToolResult,
  ClientCapabilities,
  ContentBlock as McpContent,
  ElicitRequestFormParams as ElicitParams,
  ElicitRequestURLParams as UrlElicitParams,
  EventStore,
  InputRequiredResult,
  JSONRPCMessage,
  McpHttpHandler,
  ReadResourceResult,
  RequestId,
  RequestStateCodec,
  Server as McpServer,
  ServerContext,
  Tool as McpTool,
} from '@modelcontextprotocol/server';

/** The official TypeScript SDK, version 2. */
export interface McpSdk {
  readonly server: typeof Sdk;
  readonly node: typeof Node;
}

/**
 * Loads the SDK, an optional peer.
 *
 * @throws GatewayError `INTERNAL` naming the packages to install
 */
export function loadSdk(): Promise<McpSdk> {
  const load = async () => {
    const [server, node] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/node'),
    ]);
    return { server, node };
  };
  return loadPeer('@modelcontextprotocol/server', 'mcpServerPlugin', load, ['@modelcontextprotocol/node']);
}
