import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type CreateTaskSessionFromClientOptions,
  createTaskSessionFromClient,
} from '@modelcontextprotocol/ext-tasks/client';
import { DetailedTaskV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { expect } from 'chai';
import type { GatewayConfig } from '../../../server/index.js';
import type { McpServerPluginOptions } from '../../../server/plugins/mcp/index.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { messagesOf, postMcp, startMcp } from './mcp-clients.js';

export const TASKS = 'io.modelcontextprotocol/tasks';
const REVISION = '2026-07-28';
const INFO = { name: 'test', version: '1' };
const CAPABILITIES = { elicitation: { form: {}, url: {} }, extensions: { [TASKS]: {} } };

/** A gateway whose calls become tasks at once, unless the test says otherwise. */
export const startTasks = (
  config: GatewayConfig<any, any, any>,
  options: Partial<McpServerPluginOptions> = {},
) => startMcp(config, { tasks: { afterMs: 0, pollMs: 20 }, ...options });

/** The request of a client of 2026-07-28, as it declares itself. */
export function asked(
  method: string,
  params: Record<string, unknown>,
  capabilities: Record<string, unknown> = CAPABILITIES,
) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': INFO,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
}

/** The headers of such a request. */
export function headersOf(
  { method, params }: { readonly method: string; readonly params?: any },
  user = 'alice',
) {
  const name = params?.name ?? params?.taskId;
  return {
    ...as(user),
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    // A value that no header can have is written as the protocol says.
    ...(typeof name === 'string' && {
      'mcp-name': /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`,
    }),
  };
}

/** Sends a request by hand. @returns its answer */
export async function askedRaw(
  url: string,
  method: string,
  params: Record<string, unknown>,
  {
    user,
    capabilities,
    headers = {},
  }: {
    readonly user?: string;
    readonly capabilities?: Record<string, unknown>;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<any> {
  const message = asked(method, params, capabilities);
  const answers = await messagesOf(await postMcp(url, message, { ...headersOf(message, user), ...headers }));
  return answers.at(-1);
}

interface TaskClientOptions
  extends Pick<CreateTaskSessionFromClientOptions<unknown>, 'onInputRequest' | 'onError'> {
  readonly user?: string;
  /** Where its requests go; they are sent again, under their key, for as long as they break off. @default the endpoint */
  readonly through?: string;
  readonly capabilities?: Record<string, unknown>;
}

/** The official client of tasks, on the official client. */
export async function connectTasks(
  url: string,
  { user = 'alice', through, capabilities = CAPABILITIES, ...options }: TaskClientOptions = {},
) {
  const client = new Client(INFO, { versionNegotiation: { mode: 'auto' }, capabilities });
  closeLater(client, (it) => it.close());
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: as(user) } }),
  );
  const dispatch = async (request: any, headers: Record<string, string>, signal?: AbortSignal) => {
    const own = new Headers({ 'content-type': 'application/json', ...headersOf(request, user) });
    own.set('accept', 'application/json, text/event-stream');
    for (const [name, value] of Object.entries(headers)) own.set(name, value);
    const response = await fetch(through ?? url, {
      method: 'POST',
      headers: own,
      body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), ...request }),
      ...(signal && { signal }),
    });
    const { result, error } = (await messagesOf(response)).at(-1);
    return error ? { kind: 'error', error } : { kind: 'result', result };
  };
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    rawDispatch: async (request: any, { signal, context }: any = {}) => {
      for (;;)
        try {
          return (await dispatch(request, context?.headers ?? {}, signal)) as never;
        } catch (error) {
          // A line that was cut.
          if (through === undefined || signal?.aborted) throw error;
        }
    },
    v2RequestFraming: { protocolVersion: REVISION, clientInfo: INFO, clientCapabilities: capabilities },
    ...options,
  } as never);
  closeLater(session, (it) => it.close());
  return { client, session };
}

/** What a tool said. */
export const text = (said: string) => [{ type: 'text', text: said }];
/** The outcome of a call by the official client. */
export const settled = async (session: any, name: string, input: object = {}, options: object = {}) =>
  (await (await session.callTool(name, input, options)).settle()).outcome;

function taskIn({ result, error }: any): string {
  if (error) throw new Error(`No task: ${JSON.stringify(error)}`);
  return result.taskId;
}

/** Begins a call by hand. @returns the id of its task */
export const begun = async (url: string, name: string, options = {}, input: object = {}): Promise<string> =>
  taskIn(await askedRaw(url, 'tools/call', { name, arguments: input }, options));

/** A task as it is, which fits the official schema, or the error in its place. */
export const got = async (url: string, taskId: string, options = {}) => {
  const { result, error } = await askedRaw(url, 'tasks/get', { taskId }, options);
  if (result) DetailedTaskV2Schema.parse(result);
  return result ?? error;
};

/** A task once it has come to a status. */
export const until = async (url: string, taskId: string, status: string, options = {}): Promise<any> => {
  for (;;) {
    const task = await got(url, taskId, options);
    if (task.status === status) return task;
    expect(task.status, JSON.stringify(task)).to.be.oneOf(['working', 'input_required']);
    await delay(task.pollIntervalMs);
  }
};
