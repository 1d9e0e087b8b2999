import { Client as Client15 } from '@langchain/langgraph-sdk';
import { StreamController as Controller15 } from '@langchain/langgraph-sdk/stream';
import { Client as Client11 } from 'langgraph-sdk11';
import { StreamController as Controller11 } from 'langgraph-sdk11/stream';
import { WebSocket } from 'ws';
import type { GatewayConfig } from '../../../server/index.js';
import { type LangGraphOptions, langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import type { TestGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { type Asking, askBelow, posting, startDoor } from '../door.js';

export { actor, STORES } from '../actor.js';

/** The versions of the SDK: the one that `@langchain/react` brings, and the newest. */
export const SDKS = [
  { version: '1.11.0', Client: Client11, Controller: Controller11 },
  { version: '1.15.0', Client: Client15, Controller: Controller15 },
] as unknown as readonly Sdk[];

/** The versions, and the newest over a WebSocket. The older one does not come back where a WebSocket breaks. */
export const PAGES: readonly Sdk[] = [
  ...SDKS.map((sdk) => ({ ...sdk, wire: 'SSE' as const })),
  ...SDKS.map((sdk) => ({ ...sdk, wire: 'WebSocket' as const })),
];

/** One version of the SDK. Its types differ from those of the other in what tests don't look at. */
export interface Sdk {
  readonly version: string;
  /** How pages hear of a thread. @default SSE */
  readonly wire?: 'SSE' | 'WebSocket';
  readonly Client: new (config: any) => any;
  /** What every `useStream` of the protocol is made of. */
  readonly Controller: new (
    config: any,
  ) => any;
}

/** A page that shows a thread. */
export interface Tab {
  readonly controller: any;
  readonly client: any;
  /** What it shows now. */
  readonly shown: any;
  /** Says something, up to the end of the run or its question. */
  say(text: string, options?: object & { readonly id?: string }): Promise<void>;
  /** Waits until what it shows is so. */
  until(test: (shown: any) => boolean, what: string): Promise<any>;
}

export interface LangGraphGateway extends TestGateway, Asking {
  /** Where the plugin is. */
  readonly base: string;
  client(sdk: Sdk, init?: TabInit): any;
  tab(sdk: Sdk, init?: TabInit): Tab;
  post(path: string, body: unknown, user?: string): Promise<Response>;
}

export interface TabInit {
  readonly threadId?: string | null;
  readonly user?: string;
  readonly url?: string;
  /** Where a WebSocket is opened instead. */
  readonly socketUrl?: string;
  readonly assistantId?: string;
}

/** A gateway with the plugin. */
export const startLangGraph = async (config: GatewayConfig<any, any, any>, options?: LangGraphOptions) =>
  withLangGraph(await startDoor(langGraphPlugin(options), config), options?.path);

export function withLangGraph(started: TestGateway, path = '/langgraph'): LangGraphGateway {
  const base = `${started.url}${path}`;
  const ask = askBelow(base);
  const client: LangGraphGateway['client'] = ({ Client, wire }, { user = 'alice', url = started.url } = {}) =>
    new Client({
      apiUrl: `${url}${path}`,
      apiKey: null,
      // The SDK opens no WebSocket for a client with headers of its own.
      ...(wire !== 'WebSocket' && { defaultHeaders: as(user) }),
      callerOptions: {
        maxRetries: 3,
        ...(wire === 'WebSocket' && {
          fetch: (input: URL, init: RequestInit = {}) =>
            fetch(input, { ...init, headers: { ...(init.headers as object), ...as(user) } }),
        }),
      },
    });
  return {
    ...started,
    base,
    ask,
    client,
    post: (below, body, user) => ask(below, posting(body, { user })),
    tab: (sdk, init = {}) => tabOf(sdk, client(sdk, init), init),
  };
}

function tabOf(
  { Controller, wire }: Sdk,
  client: any,
  { threadId = 'main', assistantId = 'default', user = 'alice', socketUrl }: TabInit,
): Tab {
  const controller = new Controller({
    ...(wire === 'WebSocket' && {
      transport: 'websocket',
      webSocketFactory: (url: string) => {
        const { pathname } = new URL(url);
        return new WebSocket(`${socketUrl ? socketUrl + pathname : url}?token=${user}`);
      },
    }),
    client,
    assistantId,
    threadId,
    reconnectDelayMs: () => 1,
    maxReconnectAttempts: 50,
  });
  closeLater(controller, () => controller.dispose());
  const { rootStore } = controller;
  return {
    controller,
    client,
    get shown() {
      return rootStore.getSnapshot();
    },
    async say(text, { id, ...options }: any = {}) {
      const message = { type: 'human', content: text, ...(id && { id }) };
      await controller.submit({ messages: [message] }, options);
    },
    until(test, what) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const shown = rootStore.getSnapshot();
          if (!test(shown)) return;
          leave();
          resolve(shown);
        };
        const leave = rootStore.subscribe(look);
        closeLater({}, () =>
          reject(new Error(`never: ${what}; ${JSON.stringify(brief(rootStore.getSnapshot()))}`)),
        );
        look();
      });
    },
  };
}

/** Messages as kinds and texts. */
export const brief = ({ messages }: any): unknown[] =>
  messages.map((message: any) => [message.getType?.() ?? message.type, textOf(message)]);

export const textOf = (message: any): string => {
  if (typeof message.content === 'string') return message.content;
  return message.content.map((block: any) => (block.type === 'text' ? block.text : '')).join('');
};

/** The text of all answers. */
export const answers = ({ messages }: any): string =>
  messages
    .filter((message: any) => (message.getType?.() ?? message.type) === 'ai')
    .map(textOf)
    .join('');

/** What a run is begun with. */
export const human = (content: string, id?: string) => ({
  messages: [{ type: 'human', content, ...(id && { id }) }],
});

/** What a stream of a run says. */
export async function heard(stream: AsyncIterable<any>) {
  const events: any[] = [];
  for await (const event of stream) events.push(event);
  const texts = new Map<string, string>();
  for (const { event, data } of events)
    if (event === 'messages' && data[0].type === 'AIMessageChunk' && typeof data[0].content === 'string')
      texts.set(data[0].id, (texts.get(data[0].id) ?? '') + data[0].content);
  const values = events.filter(({ event }) => event === 'values').map(({ data }) => data);
  return { events, text: [...texts.values()].join(''), values };
}
