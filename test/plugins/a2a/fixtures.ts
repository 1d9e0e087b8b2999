import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import type { GatewayConfig } from '../../../server/index.js';
import { type A2aOptions, a2aPlugin } from '../../../server/plugins/a2a/index.js';
import { as } from '../../support/users.js';
import { startDoor } from '../door.js';

/** An unmodified client of an agent. @param at Where it reaches the gateway */
export function connectAgent(
  at: string,
  { user = 'alice', path }: { readonly user?: string | undefined; readonly path?: string | undefined } = {},
): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), ...as(user) } });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(at, path);
}

/** A gateway whose apps are agents, and unmodified clients of it. */
export async function startA2a(config: GatewayConfig<any, any, any>, options: A2aOptions = {}) {
  const started = await startDoor(a2aPlugin(options), config);
  const client = (
    user?: string,
    { at = started.url, path }: { readonly at?: string; readonly path?: string } = {},
  ): Promise<Client> => connectAgent(at, { user, path });
  /** A request by hand. */
  const ask = (body: unknown, headers: Record<string, string> = {}, user = 'alice'): Promise<Response> =>
    fetch(`${started.url}/a2a/default`, {
      method: 'POST',
      headers: { ...as(user), 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const rpc = async (method: string, params: unknown, user?: string): Promise<any> =>
    (await ask({ jsonrpc: '2.0', id: 7, method, params }, {}, user)).json();
  return { ...started, client, ask, rpc };
}

let count = 0;

/** A message as the SDK takes it. */
export function says(text: string, more: Partial<Message> = {}): SendMessageRequest {
  return saying([{ content: { $case: 'text', value: text } }], more);
}

export function saying(parts: readonly object[], more: Partial<Message> = {}): SendMessageRequest {
  const whole = parts.map((part) => ({ metadata: undefined, filename: '', mediaType: '', ...part }));
  const message = {
    ...{ messageId: `m${++count}`, contextId: '', taskId: '', role: 1, parts: whole, metadata: undefined },
    ...{ extensions: [], referenceTaskIds: [] },
    ...more,
  };
  return {
    tenant: '',
    message,
    configuration: undefined,
    metadata: undefined,
  } as unknown as SendMessageRequest;
}

/** What a task has made, as text and values by the names of artifacts. */
export const madeIn = (task: Pick<Task, 'artifacts'>): Record<string, unknown> =>
  Object.fromEntries(
    task.artifacts.map(({ artifactId, parts }) => [
      artifactId,
      parts.map(({ content }) => content?.value).join(''),
    ]),
  );

/** The text of a task. */
export const textIn = (task: Pick<Task, 'artifacts'>): string =>
  task.artifacts
    .filter(({ artifactId }) => artifactId.startsWith('text-'))
    .map(({ parts }) => parts.map(({ content }) => content?.value).join(''))
    .join('');

/** A task as a client has it, from the events of its streams. */
export class Follower {
  task: Task | undefined;
  events = 0;

  take({ payload }: StreamResponse): void {
    this.events += 1;
    if (payload?.$case === 'task') this.task = payload.value;
    const task = this.task!;
    if (payload?.$case === 'statusUpdate') task.status = payload.value.status;
    if (payload?.$case !== 'artifactUpdate') return;
    const { artifact, append } = payload.value;
    const known = task.artifacts.find(({ artifactId }) => artifactId === artifact!.artifactId);
    if (append) known!.parts.push(...artifact!.parts);
    else task.artifacts = [...task.artifacts.filter((each) => each !== known), artifact!];
  }

  async read(stream: AsyncIterable<StreamResponse>): Promise<Task> {
    for await (const event of stream) this.take(event);
    return this.task!;
  }
}
