import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { ToolOutput } from '../../apps/tool.js';
import type { PluginContext } from '../plugin.js';
import { callerOf, type McpCaller } from './caller.js';
import { toCallToolResult } from './content.js';
import type { ParsedOptions } from './options.js';
import { ProgressRelay } from './progress.js';
import type { CallToolResult, McpSdk, McpServer, ServerContext } from './sdk.js';

/** How long a client may use a list that no filter makes. */
const LIST_TTL_MS = 60_000;

interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** Makes the SDK's servers, each with the gateway's tools: one for a client session, or for a request of a client without one. */
export class ToolServers {
  readonly #sdk: McpSdk;
  readonly #context: PluginContext;
  readonly #options: ParsedOptions;

  constructor(sdk: McpSdk, context: PluginContext, options: ParsedOptions) {
    this.#sdk = sdk;
    this.#context = context;
    this.#options = options;
  }

  create(): McpServer {
    const { serverInfo, instructions, toolFilter } = this.#options;
    const server = new this.#sdk.server.Server(serverInfo, {
      capabilities: { tools: {} },
      ...(instructions !== undefined && { instructions }),
      // What a filter answers may change from request to request.
      cacheHints: { 'tools/list': { ttlMs: toolFilter ? 0 : LIST_TTL_MS, cacheScope: 'private' } },
    });
    server.setRequestHandler('tools/list', (_request, context) => ({
      tools: [...this.#caller(context).view.listing],
    }));
    server.setRequestHandler('tools/call', (request, context) => {
      const caller = this.#caller(context);
      return caller.during(() => this.#call(request.params, context, caller));
    });
    return server;
  }

  #caller({ http }: ServerContext): McpCaller {
    const caller = callerOf(http?.authInfo);
    if (caller) return caller;
    throw this.#failure(new GatewayError({ code: 'INTERNAL', message: 'A request came without its caller' }));
  }

  async #call(
    call: ToolCall,
    { mcpReq }: ServerContext,
    { identity, view }: McpCaller,
  ): Promise<CallToolResult> {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    if (!view.has(call.name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${call.name}`);
    const { signal, notify, _meta } = mcpReq;
    const progressToken = _meta?.progressToken;
    const relay =
      progressToken === undefined
        ? null
        : new ProgressRelay((progress) =>
            notify({ method: 'notifications/progress', params: { progressToken, ...progress } }),
          );
    try {
      const session = this.#context.session(this.#options.sessionId, identity);
      const output = await session.callTool(call.name, call.arguments ?? {}, {
        signal,
        ...(relay && { progress: relay.report }),
      });
      await relay?.flush();
      return this.#result(call.name, output);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #result(name: string, output: ToolOutput): CallToolResult {
    try {
      return toCallToolResult(output);
    } catch (error) {
      this.#context.report(error, `the result of the tool ${name} cannot be written as JSON`);
      return { content: [{ type: 'text', text: 'The tool failed' }], isError: true };
    }
  }

  /** An error of the protocol: the gateway's own words, nothing of an unknown error. */
  #failure(error: unknown): Error {
    const { ProtocolError, ProtocolErrorCode } = this.#sdk.server;
    if (isGatewayError(error) && error.code !== 'INTERNAL') {
      const { code, retryAfterMs } = error;
      const data = { code, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      return new ProtocolError(ProtocolErrorCode.InternalError, error.message, data);
    }
    this.#context.report(error, 'an MCP request failed');
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  }
}
