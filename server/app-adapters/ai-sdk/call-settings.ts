import type { PrepareStepFunction, streamText, ToolChoice, ToolSet } from 'ai';
import { isPlainObject } from '../../schema/schema.js';

type GivenSettings = Readonly<Record<string, unknown>>;

/** The settings of a `streamText` call that a caller's parameters change. */
export type CallSettings = Partial<
  Pick<
    Parameters<typeof streamText>[0],
    (typeof NUMBERS)[number][0] | 'stopSequences' | 'toolChoice' | 'output'
  >
>;

/** Each setting of the AI SDK, followed by the chat-completions parameters for it. The first one given counts. */
const NUMBERS = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['maxOutputTokens', 'max_completion_tokens', 'max_tokens'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['seed', 'seed'],
] as const;

/** Translates the sampling parameters of a chat-completions caller. Parameters without a counterpart in the AI SDK are left out. */
export function toCallSettings(
  parameters: GivenSettings,
  sdk: Pick<typeof import('ai'), 'Output' | 'jsonSchema'>,
): CallSettings {
  const numbers = NUMBERS.flatMap(([setting, ...names]) => {
    const value = names.map((name) => parameters[name]).find((given) => typeof given === 'number');
    return value === undefined ? [] : [[setting, value]];
  });
  const stop = [parameters.stop].flat().filter((text) => typeof text === 'string');
  const toolChoice = toToolChoice(parameters.tool_choice);
  const output = toOutput(parameters.response_format, sdk);
  return {
    ...(Object.fromEntries(numbers) as CallSettings),
    ...(stop.length > 0 && { stopSequences: stop }),
    ...(toolChoice && { toolChoice }),
    ...(output && { output }),
  };
}

/** Whether a choice forces the model to call a tool. */
export function isForced(choice: ToolChoice<ToolSet> | undefined): boolean {
  return choice === 'required' || typeof choice === 'object';
}

/** Lets the model choose by itself after the first step. @param prepare The hook of the settings, which takes precedence. */
export function firstStepOnly(prepare: PrepareStepFunction<any> | undefined): PrepareStepFunction<any> {
  return async (options) => ({
    ...(options.stepNumber > 0 && { toolChoice: 'auto' as const }),
    ...(await prepare?.(options)),
  });
}

function toToolChoice(given: unknown): ToolChoice<ToolSet> | null {
  if (given === 'auto' || given === 'none' || given === 'required') return given;
  if (!isPlainObject(given) || !isPlainObject(given.function)) return null;
  const { name } = given.function;
  return typeof name === 'string' ? { type: 'tool', toolName: name } : null;
}

function toOutput(
  given: unknown,
  { Output, jsonSchema }: Pick<typeof import('ai'), 'Output' | 'jsonSchema'>,
) {
  if (!isPlainObject(given)) return null;
  if (given.type === 'json_object') return Output.json();
  const format = given.json_schema;
  if (given.type !== 'json_schema' || !isPlainObject(format) || !isPlainObject(format.schema)) return null;
  const { name, description } = format;
  return Output.object({
    schema: jsonSchema(format.schema),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
  });
}
