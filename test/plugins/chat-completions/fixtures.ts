import OpenAI from 'openai';
import { defineApp, type GatewayConfig, type Turn } from '../../../server/index.js';
import {
  type ChatCompletionsOptions,
  chatCompletionsPlugin,
} from '../../../server/plugins/chat-completions/index.js';
import { textOf } from '../../../shared/messages.js';
import type { TestGateway } from '../../support/gateway.js';
import { type AskInit, askBelow, posting, startDoor } from '../door.js';

export interface ChatGateway extends TestGateway {
  /** Where the models are. */
  readonly baseURL: string;
  /** The vendor's own client, for a user of `byName`. */
  client(user?: string, options?: ConstructorParameters<typeof OpenAI>[0]): OpenAI;
  /** Posts a completion request as it is. */
  ask(body: unknown, init?: AskInit): Promise<Response>;
}

/** A gateway with the plugin. */
export async function startChat(
  config: GatewayConfig<any, any, any>,
  options?: ChatCompletionsOptions,
): Promise<ChatGateway> {
  const started = await startDoor(chatCompletionsPlugin(options), config);
  const baseURL = `${started.url}${options?.pathPrefix ?? '/v1'}`;
  return {
    ...started,
    baseURL,
    client: (user = 'alice', more = {}) => new OpenAI({ baseURL, apiKey: user, maxRetries: 0, ...more }),
    ask: (body, init) => askBelow(baseURL)('/chat/completions', posting(body, init)),
  };
}

/** An app made of a run function alone. */
export const runs = (run: (turn: Turn) => ReturnType<Parameters<typeof defineApp>[0]['run']>) =>
  defineApp({ run });

/** Answers with the conversation as it sees it, one `role:text` a message. */
export const recalling = runs(async function* (turn) {
  yield [...turn.history, turn.message].map((message) => `${message.role}:${textOf(message)}`).join('|');
});

/** What one completion request of user text is. */
export const says = (text: string, rest: object = {}) => ({
  model: 'default',
  messages: [{ role: 'user' as const, content: text }],
  ...rest,
});

/** Offers tools by name. */
export const tools = (...names: string[]) =>
  names.map((name) => ({
    type: 'function' as const,
    function: { name, description: `Does ${name}`, parameters: { type: 'object', properties: {} } },
  }));

/** The data of a stream's events, up to its end; comments are left out. */
export async function dataOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []));
}
