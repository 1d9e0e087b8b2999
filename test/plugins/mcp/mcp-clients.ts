import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { GatewayConfig } from '../../../server/index.js';
import { type McpServerPluginOptions, mcpServerPlugin } from '../../../server/plugins/mcp/index.js';
import type { TestGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { startDoor } from '../door.js';

/** A gateway with the plugin, on a free port; `url` is the endpoint's. */
export async function startMcp(
  config: GatewayConfig<any, any, any>,
  options: Partial<McpServerPluginOptions> = {},
): Promise<TestGateway & { readonly base: string }> {
  const started = await startDoor(mcpServerPlugin({ sessionId: 'main', ...options }), config);
  return { ...started, base: started.url, url: `${started.url}${options.path ?? '/mcp'}` };
}

/** Asks what tools there are. */
export const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

/** Calls a tool that takes nothing. */
export const call = (name: string, id: string | number = 3) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: object) => void;
}

/** What the tests do with every client alike. */
export interface McpClient {
  tools(): Promise<any[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<any>;
  /** The media type and the bytes, base64, of what is at an address. */
  read(uri: string): Promise<[mimeType: string | undefined, blob: unknown]>;
  readonly sessionId: string | undefined;
  /** Addresses that it was told to be done with, by their ids. */
  readonly completed: readonly string[];
  terminate(): Promise<void>;
  close(): Promise<void>;
}

export interface ClientKind {
  readonly name: string;
  readonly sessions: boolean;
  /** @param answer What its person fills into a form; without it, it can ask nobody. */
  connect(
    url: string,
    headers?: Record<string, string>,
    answer?: FormAnswer,
    kinds?: Asks,
  ): Promise<McpClient>;
}

/** Where a client asks its person. */
export type Asks = { form?: Record<string, never>; url?: Record<string, never> };

/** Fills a form in. The signal is aborted when the form is taken back. */
export type FormAnswer = (
  form: { readonly message: string; readonly requestedSchema: any; readonly url?: string },
  signal: AbortSignal,
) => Promise<{
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | boolean>;
}>;

const INFO = { name: 'test', version: '1' };

/** What the clients do alike. */
const tried = (
  client: ClientV1 | ClientV2,
  transport: TransportV1 | TransportV2,
  own: Pick<McpClient, 'completed' | 'call'>,
): McpClient => ({
  ...own,
  tools: async () => (await client.listTools()).tools,
  read: async (uri) => {
    const [{ mimeType, ...content }] = (await client.readResource({ uri })).contents as [any];
    return [mimeType, content.blob];
  },
  get sessionId() {
    return transport.sessionId;
  },
  terminate: () => transport.terminateSession(),
  close: () => client.close(),
});

const v1: ClientKind = {
  name: 'the client of SDK v1',
  sessions: true,
  async connect(url, headers = as('alice'), answer, kinds = {}) {
    const client = new ClientV1(INFO, answer && { capabilities: { elicitation: kinds } });
    if (answer)
      client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
        answer(params as never, signal),
      );
    const completed: string[] = [];
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
      completed.push(params.elicitationId);
    });
    const transport = new TransportV1(new URL(url), { requestInit: { headers } });
    closeLater(client, (it) => it.close());
    await client.connect(transport as never);
    return tried(client, transport, {
      completed,
      call: (name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options),
    });
  },
};

const v2 = (name: string, sessions: boolean): ClientKind => ({
  name,
  sessions,
  async connect(url, headers = as('alice'), answer, kinds = { form: {} }) {
    const client = new ClientV2(INFO, {
      ...(!sessions && { versionNegotiation: { mode: 'auto' } }),
      ...(answer && { capabilities: { elicitation: kinds } }),
    });
    if (answer)
      client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
        answer(params as never, mcpReq.signal),
      );
    const completed: string[] = [];
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      completed.push(params.elicitationId);
    });
    const transport = new TransportV2(new URL(url), { requestInit: { headers } });
    closeLater(client, (it) => it.close());
    await client.connect(transport);
    return tried(client, transport, {
      completed,
      call: (name, args = {}, options) => client.callTool({ name, arguments: args }, options),
    });
  },
});

export const withSessions = v2('the client of SDK v2', true);
export const withoutSessions = v2('the client of SDK v2 that negotiates 2026-07-28', false);

export const CLIENTS: readonly ClientKind[] = [v1, withSessions, withoutSessions];

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO },
};

/** POSTs a message as MCP clients do. */
export function postMcp(
  url: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      ...as('alice'),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}

/** Opens a client session by hand and returns its id. */
export async function initialize(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await postMcp(url, INITIALIZE, headers);
  await response.text();
  const id = response.headers.get('mcp-session-id');
  if (response.status !== 200 || id === null) throw new Error(`no session: ${response.status}`);
  return id;
}

/** The JSON-RPC messages of an answer, whichever form it has. */
export async function messagesOf(response: Response): Promise<any[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.includes('text/event-stream')) return [JSON.parse(text)];
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data!));
}
