import type { ToolSet as AiToolSet } from 'ai';
import type { Turn } from '../../apps/application.js';
import { once } from '../once.js';
import type { ModelSteps } from './durable-model.js';

/** Wraps tools so that the calls that the SDK executes are steps. */
export function durableTools(turn: Turn, tools: AiToolSet, models: ModelSteps): AiToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, written]) => {
      const { execute } = written;
      if (!execute) return [name, written];
      const stepped = async (input: unknown, options: never): Promise<unknown> => {
        await models.answered;
        return once(turn, `tool ${name}`, async () => lastOf(await execute(input as never, options)));
      };
      return [name, { ...written, execute: stepped } as AiToolSet[string]];
    }),
  );
}

/** The final result of a tool, which may yield preliminary ones first. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const one of result as AsyncIterable<unknown>) last = one;
  return last;
}
