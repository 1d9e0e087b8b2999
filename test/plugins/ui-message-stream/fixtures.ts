import { Chat as Chat6 } from '@ai-sdk/react';
import * as ai6 from 'ai';
import { Chat as Chat5 } from 'ai-react2';
import { Chat as Chat7 } from 'ai-react4';
import * as ai5 from 'ai5';
import * as ai7 from 'ai7';
import { gatewayChat } from '../../../client/ai-sdk/index.js';
import { createClient } from '../../../client/index.js';
import type { GatewayConfig } from '../../../server/index.js';
import {
  type UiMessageStreamOptions,
  uiMessageStreamPlugin,
} from '../../../server/plugins/ui-message-stream/index.js';
import type { TestGateway } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { type AskInit, type Asking, askBelow, posting, startDoor } from '../door.js';

export { actor, STORES } from '../actor.js';

/** The majors of the AI SDK, each by its own `Chat` and transport. */
export const MAJORS = [
  { major: 5, sdk: ai5, Chat: Chat5 },
  { major: 6, sdk: ai6, Chat: Chat6 },
  { major: 7, sdk: ai7, Chat: Chat7 },
] as unknown as readonly Major[];

/** The parts of one major that tests use. Its types differ from those of the others in what tests don't look at. */
export interface Major {
  readonly major: 5 | 6 | 7;
  readonly sdk: any;
  readonly Chat: new (init: any) => UiChat;
}

/** `Chat` of `@ai-sdk/react`, as far as tests use it. */
export interface UiChat {
  readonly id: string;
  readonly status: string;
  readonly error: Error | undefined;
  messages: any[];
  sendMessage(message?: any, options?: any): Promise<void>;
  regenerate(options?: any): Promise<void>;
  resumeStream(options?: any): Promise<void>;
  stop(): Promise<void>;
  addToolApprovalResponse(answer: any): Promise<void>;
  addToolResult(result: any): Promise<void>;
}

export interface UiGateway extends TestGateway, Asking {
  /** What interfaces post to. */
  readonly api: string;
  /** Posts a body. */
  post(body: unknown, init?: AskInit): Promise<Response>;
  /** A chat of a major with its own transport. */
  chat(major: Major, init?: ChatInit): UiChat;
}

export interface ChatInit {
  readonly id?: string;
  readonly user?: string;
  /** Where its requests go instead. */
  readonly url?: string;
  readonly fetch?: typeof fetch;
  readonly messages?: readonly unknown[];
  /** Whether the transport is handed on as the hook of earlier majors does it: by its two methods alone. */
  readonly hook?: boolean;
  readonly [option: string]: unknown;
}

/** A gateway with the plugin. */
export const startUi = async (config: GatewayConfig<any, any, any>, options?: UiMessageStreamOptions) =>
  withUi(await startDoor(uiMessageStreamPlugin(options), config), options?.path);

export function withUi(started: TestGateway, path = '/api/chat'): UiGateway {
  const api = `${started.url}${path}`;
  const ask = askBelow(api);
  return {
    ...started,
    api,
    ask,
    post: (body, init) => ask('', posting(body, init)),
    chat({ sdk, Chat }, { id = 'main', user = 'alice', url = started.url, fetch: own, hook, ...rest } = {}) {
      const transport = new sdk.DefaultChatTransport({
        api: `${url}${path}`,
        headers: as(user),
        ...(own && { fetch: own }),
      });
      const handed = {
        sendMessages: (options: unknown) => transport.sendMessages(options),
        reconnectToStream: (options: unknown) => transport.reconnectToStream(options),
      };
      return new Chat({ id, transport: hook ? handed : transport, ...rest });
    },
  };
}

/** The same with the transport of our own client, of which each chat has one. */
export function withGatewayChat(ui: UiGateway, options?: UiMessageStreamOptions): UiGateway {
  return {
    ...ui,
    chat: (major, init = {}) => {
      const client = createClient({ baseUrl: init.url ?? ui.url, token: init.user ?? 'alice' });
      closeLater(client, (it) => it.disconnect());
      return ui.chat(major, { ...init, transport: gatewayChat(client, options) });
    },
  };
}

/** A user's message, as interfaces send it. */
export const userSays = (id: string, text: string) => ({
  id,
  role: 'user' as const,
  parts: [{ type: 'text' as const, text }],
});

/** The chunks of a stream; comments are left out, and `[DONE]` is a string. */
export function chunksIn(text: string): any[] {
  return text.split('\n\n').flatMap((frame) => {
    if (!frame.startsWith('data: ')) return [];
    const data = frame.slice(6);
    return [data === '[DONE]' ? data : JSON.parse(data)];
  });
}

export const chunksOf = async (response: Response): Promise<any[]> => chunksIn(await response.text());

/** The text of a message. */
export const textIn = (message: { readonly parts: readonly any[] } | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');

/** What is comparable of messages: parts, without what a client adds of its own. */
export const plain = (value: unknown): any => JSON.parse(JSON.stringify(value));

/** What of messages has to be the same. */
export const shown = (messages: readonly any[]): unknown =>
  plain(messages).map(({ role, parts }: any) => ({
    role,
    parts: parts.map(({ preliminary: _, ...rest }: any) => {
      if ('toolCallId' in rest) rest.toolCallId = 'call';
      if (rest.approval) rest.approval = { ...rest.approval, id: 'call' };
      return rest;
    }),
  }));
