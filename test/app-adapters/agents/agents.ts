import { Agent, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents';
import { OpenAI } from 'openai';
import { z } from 'zod';
import type { ChatEndpoint } from '../../support/chat-endpoint.js';

/** Nothing of a test leaves the machine. */
export const runner = new Runner({ tracingDisabled: true });

export function openai(endpoint: ChatEndpoint): OpenAI {
  return new OpenAI({ baseURL: endpoint.url, apiKey: 'a-key', maxRetries: 0 });
}

export function chatModel(endpoint: ChatEndpoint): OpenAIChatCompletionsModel {
  return new OpenAIChatCompletionsModel(openai(endpoint), 'tiny');
}

export const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, sky: 'clear' }),
});

export const erasing = {
  name: 'erase',
  description: 'Erases a file',
  parameters: z.object({ path: z.string() }),
  execute: async ({ path }: { path: string }) => `erased ${path}`,
};

export const erase = tool({ ...erasing, needsApproval: true });

export function agent(endpoint: ChatEndpoint, config: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  return new Agent({ name: 'Helper', model: chatModel(endpoint), tools: [weather, erase], ...config });
}
