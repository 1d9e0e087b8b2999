import { HttpAgent as HttpAgent1 } from 'ag-ui-client';
import { HttpAgent as HttpAgent0 } from 'ag-ui-client0';
import type { GatewayConfig } from '../../../server/index.js';
import { type AgUiOptions, agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import type { TestGateway } from '../../support/gateway.js';
import { as } from '../../support/users.js';
import { type Asking, askBelow, posting, startDoor } from '../door.js';

export { actor, STORES } from '../ui-message-stream/fixtures.js';

/** The clients of the protocol, each by its own `HttpAgent`. */
export const CLIENTS = [
  { version: '0.0.59', HttpAgent: HttpAgent0 },
  { version: '1.0.0', HttpAgent: HttpAgent1 },
] as unknown as readonly AgUiClient[];

/** One version of the client. Its types differ from those of the other in what tests don't look at. */
export interface AgUiClient {
  readonly version: '0.0.59' | '1.0.0';
  readonly HttpAgent: new (config: any) => Agent;
}

/** `HttpAgent`, as far as tests use it. */
export interface Agent {
  threadId: string;
  messages: any[];
  state: any;
  readonly pendingInterrupts: any[];
  addMessage(message: any): void;
  setMessages(messages: any[]): void;
  runAgent(parameters?: any, subscriber?: any): Promise<any>;
  abortRun(): void;
}

export interface AgUiGateway extends TestGateway, Asking {
  /** Where the plugin is. */
  readonly base: string;
  /** Posts a body to a path below that. */
  post(path: string, body: unknown, user?: string): Promise<Response>;
  agent(client: AgUiClient, init?: AgentInit): Agent;
}

export interface AgentInit {
  readonly threadId?: string;
  readonly user?: string;
  /** Where its requests go instead. */
  readonly url?: string;
  readonly initialMessages?: readonly unknown[];
  readonly fetch?: typeof fetch;
}

/** A gateway with the plugin; the only app is `default`. */
export const startAgUi = async (config: GatewayConfig<any, any, any>, options?: AgUiOptions) =>
  withAgUi(await startDoor(agUiPlugin(options), config), options?.path);

export function withAgUi(started: TestGateway, path = '/ag-ui'): AgUiGateway {
  const base = `${started.url}${path}`;
  const ask = askBelow(base);
  return {
    ...started,
    base,
    ask,
    post: (below, body, user) => ask(below, posting(body, { user })),
    agent({ HttpAgent }, { user = 'alice', url = started.url, threadId = 'main', ...rest } = {}) {
      return new HttpAgent({ url: `${url}${path}/agent/default`, headers: as(user), threadId, ...rest });
    },
  };
}

/** A run as a client of the later version asks for it. */
export const input = (runId: string, messages: readonly unknown[], more: object = {}) => ({
  threadId: 'main',
  runId,
  protocolVersion: '1.0',
  state: {},
  messages,
  tools: [],
  context: [],
  forwardedProps: {},
  ...more,
});

export const says = (id: string, content: unknown) => ({ id, role: 'user' as const, content });

/** The events of a stream. */
export const eventsIn = (text: string): any[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));

export const eventsOf = async (response: Response): Promise<any[]> => eventsIn(await response.text());

/** The text of all answers. */
export const textIn = (messages: readonly any[]): string =>
  messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join('');

/** What of messages has to be the same: all but ids, which differ from run to run. */
export const shown = (messages: readonly any[]): unknown =>
  messages.map(({ role, content = '', toolCalls = [] }) => ({
    role,
    content,
    toolCalls: toolCalls.map((call: any) => call.function),
  }));

/** Collects what subscribers are told of. */
export const listener = () => {
  const events: any[] = [];
  return { events, onEvent: ({ event }: any) => void events.push(event) };
};

/** Runs an agent whose stream may be cut off: why it failed, if it did. */
export async function attempt(agent: Agent, parameters?: any, subscriber?: any): Promise<Error | null> {
  const { error } = console;
  // The client says in the console what it throws.
  console.error = () => {};
  try {
    await agent.runAgent(parameters, subscriber);
    return null;
  } catch (failure) {
    return failure as Error;
  } finally {
    console.error = error;
  }
}
