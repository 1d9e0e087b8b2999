import type { UsedCall } from '../../apps/application.js';
import { fieldsOf } from './run-reader.js';

/** The sums of one model in a session of the agent. */
interface ModelSums {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  readonly cost: number;
}
/** The sums of a session, by model. */
export type ClaudeSpent = Readonly<Record<string, ModelSums>>;

const NONE: ModelSums = { input: 0, cached: 0, output: 0, reasoning: 0, cost: 0 };

/** The sums that the agent tells at the end of an answer. */
export function spentOf(result: Readonly<Record<string, unknown>>): ClaudeSpent {
  const models = Object.entries(fieldsOf(result.modelUsage)).map(([model, told]) => {
    const of = (name: string): number => amount(fieldsOf(told)[name]);
    const cached = of('cacheReadInputTokens');
    const sums: ModelSums = {
      input: of('inputTokens') + cached + of('cacheCreationInputTokens'),
      cached,
      output: of('outputTokens'),
      reasoning: of('thinkingTokens'),
      cost: of('costUSD'),
    };
    return [model, sums] as const;
  });
  return Object.fromEntries(models);
}

/**
 * The calls since the sums were last told. A session that is taken up goes on with its sums if the agent has kept them, and else begins at nothing: it has kept them if
 * they hold both the former ones and the answer's own.
 */
export function callsSince(
  before: ClaudeSpent,
  now: ClaudeSpent,
  { usage }: Readonly<Record<string, unknown>>,
): UsedCall[] {
  const isKept = outputOf(now) >= outputOf(before) + amount(fieldsOf(usage).output_tokens);
  return Object.entries(now).flatMap(([model, sums]) => {
    const former = (isKept && before[model]) || NONE;
    const since = (name: keyof ModelSums): number => Math.max(0, sums[name] - former[name]);
    const [inputTokens, outputTokens, cost] = [since('input'), since('output'), since('cost')];
    if (inputTokens + outputTokens + cost === 0) return [];
    return [
      {
        ...{ model, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
        ...{ cachedInputTokens: since('cached'), reasoningTokens: since('reasoning') },
        ...{ cost, currency: 'USD' },
      },
    ];
  });
}

const outputOf = (spent: ClaudeSpent): number =>
  Object.values(spent).reduce((sum, { output }) => sum + output, 0);

const amount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
