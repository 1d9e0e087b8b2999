import { WebSocket as WebSocketOfNode } from 'ws';
import { defineApp } from '../../../server/index.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';

/** The part of a `ChatClient` that tests use. Its own types follow from the tools it is given. */
export interface TanStackChat {
  attach(): void;
  detach(): void;
  dispose(): void;
  stop(): void;
  sendMessage(message: unknown): Promise<unknown>;
  reload(): Promise<void>;
  setMessagesManually(messages: readonly any[]): void;
  getMessages(): any[];
  getStatus(): string;
  getError(): Error | undefined;
  getInterrupts(): readonly any[];
  getHasOlderMessages(): boolean;
  loadOlderMessages(): Promise<void>;
}

export interface TanStackInit {
  /** Address of the door. */
  readonly base: string;
  readonly threadId?: string;
  /** Lines of JSON instead of Server-Sent Events. */
  readonly lines?: boolean;
  /** A WebSocket, opened at this address of the gateway. */
  readonly socketAt?: string;
  readonly fetchClient?: typeof fetch;
  readonly [option: string]: unknown;
}

/** A client of TanStack AI as it comes, with one of its own connections. */
export async function tanstack({
  base,
  threadId = 'main',
  lines,
  fetchClient,
  socketAt,
  ...rest
}: TanStackInit): Promise<TanStackChat> {
  // The package can only be imported, and test files are required.
  const { ChatClient, fetchHttpStream, fetchServerSentEvents, webSocket } = await import(
    '@tanstack/ai-client'
  );
  const connect = lines ? fetchHttpStream : fetchServerSentEvents;
  const requests = connect(`${base}/agent/default`, {
    headers: { ...as('alice'), ...(lines && { accept: 'application/x-ndjson' }) },
    reconnect: { delayMs: 0 },
    ...(fetchClient && { fetchClient }),
  });
  const address = socketAt?.replace('http', 'ws');
  const connection =
    address === undefined
      ? requests
      : {
          ...webSocket(`${address}/ag-ui/agent/default`, {
            WebSocketImpl: Authorized as unknown as typeof WebSocket,
            reconnect: { delayMs: 0 },
          }),
          // The package has none for sockets.
          hydrate: requests.hydrate,
        };
  const client = new ChatClient({ threadId, connection, ...rest } as any) as unknown as TanStackChat;
  closeLater(client, (it) => it.dispose());
  client.attach();
  return client;
}

/** Sends a header, as no browser can. */
class Authorized extends WebSocketOfNode {
  constructor(url: string) {
    super(url, { headers: as('alice') });
  }
}

/** The text of what the last message of the user is answered with. */
export function answerIn(messages: readonly any[]): string {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(from + 1)
    .flatMap(({ parts }) => parts)
    .map((part: any) => (part.type === 'text' ? part.content : ''))
    .join('');
}

/** The content of each turn, which is the same in one message or several, however they came to a client. */
export function shown(messages: readonly any[]): unknown {
  const turns: { role: string; parts: any[] }[] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    const own = parts.map(({ stepId: _, ...part }: any) => part);
    if (last?.role === role) last!.parts.push(...own);
    else turns.push({ role, parts: own });
  }
  return turns;
}

/** Fails in the body of the next answers, each after so many bytes that were read; then the connection is gone for the server too. */
export function cuttingFetch(places: readonly number[]): { readonly fetch: typeof fetch; cuts(): number } {
  const left = [...places];
  let cuts = 0;
  return {
    cuts: () => cuts,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      let room = left.shift() ?? Number.POSITIVE_INFINITY;
      const reader = response.body!.getReader();
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (room <= 0) {
              cuts += 1;
              await reader.cancel();
              return controller.error(new TypeError('network error'));
            }
            const { done, value } = await reader.read();
            if (done) return controller.close();
            controller.enqueue(value.subarray(0, Math.min(room, value.length)));
            room -= value.length;
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      );
      const { status, statusText, headers } = response;
      return new Response(body, { status, statusText, headers });
    },
  };
}

/** An app that says each word of its message, and counts its runs. */
export function speaking() {
  let runs = 0;
  const app = defineApp({
    async *run({ text }) {
      runs += 1;
      for (const word of text.split(' ')) {
        yield `${word} `;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
  return { app, runs: () => runs };
}
