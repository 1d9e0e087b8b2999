import type { RequestFields } from '../model-caller.js';

/** Most tokens of an answer, where nobody says: the API has no default, and every model since Claude 3.5 takes these. */
const MAX_TOKENS = 8_192;

/**
 * The parameters of a request: those of the app, overridden by those of the turn's caller, which have the names of chat completions.
 * A model that thinks takes no temperature.
 */
export function mergeParameters(own: RequestFields, callers: RequestFields): Record<string, unknown> {
  const { temperature, top_p, max_tokens, max_completion_tokens, stop } = callers;
  const thinks =
    own.thinking !== undefined && (own.thinking as { type?: unknown } | null)?.type !== 'disabled';
  const choice = toolChoice(callers);
  const asked = {
    // Others go up to 2.
    temperature: thinks || typeof temperature !== 'number' ? undefined : Math.min(temperature, 1),
    top_p: thinks ? undefined : top_p,
    max_tokens: max_completion_tokens ?? max_tokens,
    stop_sequences: typeof stop === 'string' ? [stop] : stop,
    tool_choice: thinks && isForced(choice) ? undefined : choice,
  };
  const given = Object.entries(asked).filter(([, value]) => value != null);
  return { max_tokens: MAX_TOKENS, ...own, ...Object.fromEntries(given) };
}

function toolChoice({ tool_choice: choice, parallel_tool_calls: parallel }: RequestFields): unknown {
  const named = (choice as { readonly function?: { readonly name?: unknown } } | null)?.function?.name;
  const types: RequestFields = { none: 'none', auto: 'auto', required: 'any' };
  const type = named === undefined ? types[String(choice ?? (parallel === false ? 'auto' : ''))] : 'tool';
  if (type === undefined) return undefined;
  return {
    type,
    ...(named !== undefined && { name: named }),
    ...(parallel === false && type !== 'none' && { disable_parallel_tool_use: true }),
  };
}

function isForced(choice: unknown): boolean {
  const { type } = (choice ?? {}) as { readonly type?: unknown };
  return type === 'any' || type === 'tool';
}

/** Parameters for the steps after the first: a forced call would be repeated after its result without end. */
export function withoutForcedCall({ tool_choice: choice, ...others }: RequestFields): RequestFields {
  return choice === undefined || isForced(choice) ? others : { tool_choice: choice, ...others };
}
