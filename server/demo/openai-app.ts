import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { textOf } from '../../shared/messages.js';
import { type Application, defineApp, GatewayError, type Message } from '../index.js';

/** An OpenAI-compatible endpoint. */
export interface OpenAIEndpoint {
  readonly baseURL: string;
  readonly model: string;
  /** Local servers often want none. */
  readonly apiKey?: string | undefined;
}

/**
 * An app that passes the conversation to an OpenAI-compatible chat-completions endpoint and streams what it answers.
 *
 * @throws GatewayError `INVALID_REQUEST` naming the package, when the optional peer `openai` is not installed.
 */
export async function createOpenAIApp({ baseURL, model, apiKey }: OpenAIEndpoint): Promise<Application> {
  const { OpenAI } = await importOpenAI();
  const client = new OpenAI({ baseURL, apiKey: apiKey || 'none' });
  return defineApp({
    description: `Answers with ${model}`,
    async *run(turn) {
      const stream = await client.chat.completions.create(
        {
          model,
          messages: [...turn.history, turn.message].flatMap(toChatMessage),
          stream: true,
          stream_options: { include_usage: true },
        },
        { signal: turn.signal },
      );
      let truncated = false;
      for await (const { choices, usage } of stream) {
        const [choice] = choices;
        if (choice?.delta?.content) yield choice.delta.content;
        truncated ||= choice?.finish_reason === 'length';
        if (usage) {
          const {
            prompt_tokens: inputTokens,
            completion_tokens: outputTokens,
            total_tokens: totalTokens,
          } = usage;
          turn.usage({ inputTokens, outputTokens, totalTokens });
        }
      }
      return { stopReason: truncated ? 'max_tokens' : 'end' };
    },
  });
}

async function importOpenAI(): Promise<typeof import('openai')> {
  try {
    return await import('openai');
  } catch (cause) {
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: 'OPENAI_BASE_URL needs the package openai: npm install openai',
      cause,
    });
  }
}

function toChatMessage(message: Message): ChatCompletionMessageParam[] {
  const content = textOf(message);
  if (content === '') return [];
  if (message.role === 'assistant') return [{ role: 'assistant', content }];
  return [{ role: message.role === 'system' ? 'system' : 'user', content }];
}
