import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';

type Part = LanguageModelV3StreamPart;

export const says = (text: string): Part[] => [
  { type: 'text-start', id: 't' },
  ...text.split(/(?<= )/).map((delta): Part => ({ type: 'text-delta', id: 't', delta })),
  { type: 'text-end', id: 't' },
];

export const thinks = (text: string): Part[] => [
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: text },
  { type: 'reasoning-end', id: 'r' },
];

/** A call; the id is the same each time, as some models have it. */
export const calls = (toolName: string, input: unknown, toolCallId = 'call_0'): Part => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: typeof input === 'string' ? input : JSON.stringify(input),
});

export const ends = (unified: 'stop' | 'length' | 'tool-calls' | 'error' | 'other' = 'stop'): Part => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: {
    inputTokens: { total: 10, noCache: 8, cacheRead: 2, cacheWrite: undefined },
    outputTokens: { total: 5, text: 4, reasoning: 1 },
  },
});

/** A model of the AI SDK that gives these answers, one a step. */
export function scriptedModel(...answers: readonly (readonly Part[])[]): MockLanguageModelV3 {
  let asked = 0;
  return new MockLanguageModelV3({
    // Not the list itself: where the mock begins to count has changed between versions of the SDK.
    doStream: async () => {
      const parts = answers[asked];
      asked += 1;
      if (!parts) throw new Error(`the model was asked ${asked} times`);
      return { stream: convertArrayToReadableStream([...parts]) };
    },
  });
}

/** What a model was asked with. */
export function asked(model: MockLanguageModelV3, call = 0): LanguageModelV3CallOptions {
  const options = model.doStreamCalls[call];
  if (!options) throw new Error(`the model was called ${model.doStreamCalls.length} times`);
  return options;
}
