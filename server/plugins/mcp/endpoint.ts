import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../../shared/errors.js';
import { isPromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import type { PluginContext, PluginPeers } from '../plugin.js';
import { type McpCaller, servedAs } from './caller.js';
import { ToolCatalogue, type ToolView } from './catalogue.js';
import { ClientSessions } from './client-sessions.js';
import { answerError, answerGatewayError, isRefusal, SESSION_NOT_FOUND } from './json-rpc.js';
import type { ParsedOptions } from './options.js';
import { sorted } from './peer-messages.js';
import type { McpHttpHandler, McpSdk, NodeIncomingMessageLike, NodeMcpRequestHandler } from './sdk.js';
import { hearsUndeclared, UNDECLARED } from './task-objects.js';
import { ToolServers } from './tool-server.js';

const NO_TOOLS: ToolView = { listing: [], has: () => false };

/**
 * One endpoint for both generations of MCP: the revisions with `initialize` get a client session each, 2026-07-28 is served request
 * by request.
 */
export class McpEndpoint {
  readonly #sdk: McpSdk;
  readonly #catalogue: ToolCatalogue;
  readonly #sessions: ClientSessions;
  readonly #stateless: McpHttpHandler;
  readonly #servers: ToolServers;
  readonly #peers: PluginPeers;
  readonly #hasTasks: boolean;
  readonly #serveModern: NodeMcpRequestHandler;

  constructor(sdk: McpSdk, context: PluginContext, options: ParsedOptions) {
    this.#sdk = sdk;
    const report = (error: unknown, what: string): void => context.report(error, what);
    this.#catalogue = new ToolCatalogue(context.tools(options.sessionId), options, {
      guardMs: context.limits.guardMs,
      report,
    });
    const servers = new ToolServers(sdk, context, options);
    this.#servers = servers;
    this.#peers = context.peers;
    this.#hasTasks = options.tasks !== null;
    this.#sessions = new ClientSessions(sdk, servers, { limits: options.limits, peers: this.#peers, report });
    this.#stateless = sdk.server.createMcpHandler(() => servers.create({ tasks: true }), {
      legacy: 'reject',
    });
    this.#serveModern = sdk.node.toNodeHandler(this.#stateless);
  }

  /** Serves a request of an authenticated caller. @throws GatewayError an error that the gateway must answer */
  async serve(call: PluginRequest, person: Person): Promise<void> {
    try {
      if (person.link)
        throw new GatewayError({
          code: 'ACCESS_DENIED',
          message: 'A guest of a session has no tools of MCP',
        });
      if (call.request.method === 'POST') await this.#post(call, person, await call.body());
      else await this.#inSession(call, person);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      answerGatewayError(call.response, error);
    }
  }

  async #post(call: PluginRequest, person: Person, body: unknown): Promise<void> {
    const { headers } = call.request;
    const { kind } = this.#sdk.server.classifyInboundRequest({
      httpMethod: 'POST',
      ...protocolHeaders(headers),
      body,
    });
    if (kind !== 'legacy') return this.#serveStateless(call, person, body);
    if (headers['mcp-session-id'] === undefined && this.#sdk.server.isInitializeRequest(body)) {
      return this.#sessions.open(person, {
        initialize: body,
        choose: () => this.#catalogue.viewFor(call.request, person),
        answer: (session, view) => session.serve(call, { person, view }, body),
      });
    }
    return this.#inSession(call, person, body);
  }

  async #inSession(call: PluginRequest, person: Person, body?: unknown): Promise<void> {
    const id = call.request.headers['mcp-session-id'];
    if (typeof id !== 'string')
      return answerError(call.response, 400, { message: 'Bad Request: Mcp-Session-Id header is required' });
    const finding = this.#sessions.find(id, person);
    const found = isPromise(finding) ? await finding : finding;
    if (!found)
      return answerError(call.response, 404, { code: SESSION_NOT_FOUND, message: 'Session not found' });
    // Used from here on: a session that makes room for another one has no request.
    await found.session.use(async () => {
      const own = body && (await sorted(this.#peers, { sessionId: id, owner: found.owner }, body));
      if (own === undefined && body !== undefined) return void call.response.writeHead(202).end();
      // Asked again for each request that lists or calls tools, since the user's rights can change during the session.
      const view = asksForTools(own) ? await this.#catalogue.viewFor(call.request, person) : NO_TOOLS;
      // Noted first, so that a client that was told of the end cannot find the session at another gateway.
      if (call.request.method === 'DELETE') await this.#sessions.end(id);
      await found.session.serve(call, { person, view }, own);
    });
  }

  async #serveStateless({ request, response }: PluginRequest, person: Person, body: unknown): Promise<void> {
    if (this.#hasTasks && hearsUndeclared(body)) {
      const { MissingRequiredClientCapabilityError } = this.#sdk.server;
      const { code, message, data } = new MissingRequiredClientCapabilityError(UNDECLARED);
      return answerError(response, 400, { code, message, data, id: (body as { readonly id?: unknown }).id });
    }
    const view = asksForTools(body) ? await this.#catalogue.viewFor(request, person) : NO_TOOLS;
    const caller: McpCaller = { person, view, inSession: false, during: (work) => work() };
    await servedAs(request, caller, (it) => this.#serveModern(it as NodeIncomingMessageLike, response, body));
  }

  /** Answers the calls that outlive this gateway. */
  drain(): void {
    this.#servers.drain();
  }

  /** Ends all sessions, streams and calls. */
  async close(): Promise<void> {
    this.#servers.close();
    await Promise.all([this.#sessions.closeAll(), this.#stateless.close()]);
  }
}

/** The headers that distinguish the generations, as the SDK takes them. */
function protocolHeaders(headers: IncomingHttpHeaders): {
  protocolVersionHeader?: string;
  mcpMethodHeader?: string;
  mcpNameHeader?: string;
} {
  const version = headers['mcp-protocol-version'];
  const method = headers['mcp-method'];
  const name = headers['mcp-name'];
  return {
    ...(typeof version === 'string' && { protocolVersionHeader: version }),
    ...(typeof method === 'string' && { mcpMethodHeader: method }),
    ...(typeof name === 'string' && { mcpNameHeader: name }),
  };
}

/** Whether the filter must be asked: no other request lists or calls a tool, or is about a call. */
function asksForTools(body: unknown): boolean {
  if (body === undefined) return false;
  const method: unknown = (body as { method?: unknown } | null)?.method;
  return typeof method !== 'string' || /^(?:tools|tasks)\//.test(method);
}
