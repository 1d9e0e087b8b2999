import { GatewayError } from '../../../shared/errors.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { GatewayPlugin, PluginContext } from '../plugin.js';
import { McpEndpoint } from './endpoint.js';
import { type McpServerPluginOptions, type ParsedOptions, parseOptions } from './options.js';
import { loadSdk } from './sdk.js';
import { SignIn } from './sign-in.js';

/**
 * Serves an app's tools to MCP clients, over Streamable HTTP: protocol revisions 2025-06-18, 2025-11-25 and 2026-07-28. Needs the
 * packages `@modelcontextprotocol/server` and `@modelcontextprotocol/node`.
 *
 * @throws GatewayError `INVALID_REQUEST` naming each wrong option
 * @example
 * ```ts
 * gateway.use(mcpServerPlugin({ sessionId: 'assistant:tools', exclude: ['dropTables'] }));
 * ```
 */
export function mcpServerPlugin(options: McpServerPluginOptions): GatewayPlugin {
  return new McpServerPlugin(parseOptions(options));
}

class McpServerPlugin implements GatewayPlugin {
  readonly name: string;
  readonly #options: ParsedOptions;
  #context: PluginContext | null = null;
  #endpoint: Promise<McpEndpoint> | null = null;
  readonly #signIn: SignIn | null;
  #destroyed = false;

  constructor(options: ParsedOptions) {
    this.#options = options;
    this.#signIn = options.signIn ? new SignIn(options.signIn, options.path) : null;
    // One plugin for each path, since a gateway may serve the tools of several apps.
    this.name = `mcp:${options.path}`;
  }

  setup(context: PluginContext): void {
    const { path, sessionId } = this.#options;
    // A wrong key fails at setup, and not at the first client.
    context.tools(sessionId);
    this.#context = context;
    context.route(path, (call) => this.#serve(call), {
      methods: ['GET', 'POST', 'DELETE'],
      requestHeaders: ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id'],
      exposedHeaders: ['mcp-session-id', 'mcp-protocol-version', 'www-authenticate'],
    });
    const signIn = this.#signIn;
    if (signIn)
      context.route(signIn.path, (call) => signIn.serve(call), { methods: ['GET'], needsStore: false });
  }

  async start(): Promise<void> {
    await this.#ready();
  }

  /** The endpoint, made once: an embedded gateway may be asked before it was started. */
  #ready(): Promise<McpEndpoint> {
    this.#endpoint ??= loadSdk().then((sdk) => new McpEndpoint(sdk, this.#context!, this.#options));
    return this.#endpoint;
  }

  async #serve(call: PluginRequest): Promise<void> {
    const { path } = this.#options;
    if (call.path !== path && call.path !== `${path}/`) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    const person = await (this.#signIn?.authenticate(call) ?? call.authenticate());
    // A caller who may not use the app must not learn of its tools.
    if (!(await this.#isFor(person))) throw new GatewayError({ code: 'ROUTE_NOT_FOUND' });
    const endpoint = await this.#ready();
    if (this.#destroyed) throw new GatewayError({ code: 'SHUTTING_DOWN' });
    await endpoint.serve(call, person);
  }

  async #isFor(person: Person): Promise<boolean> {
    const { sessionId } = this.#options;
    const at = sessionId.indexOf(':');
    const apps = await this.#context!.appsOf(person);
    return apps.some(({ name, isDefault }) => (at < 0 ? isDefault : name === sessionId.slice(0, at)));
  }

  async drain(): Promise<void> {
    (await this.#endpoint?.catch(() => null))?.drain();
  }

  async destroy(): Promise<void> {
    this.#destroyed = true;
    const endpoint = await this.#endpoint?.catch(() => null);
    await endpoint?.close();
  }
}
