type Given = Readonly<Record<string, unknown>>;

/** What a caller may decide; the rest of a request (model, messages, tools, streaming) is the app's. */
const CALLERS = [
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'response_format',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'verbosity',
];

/** Two names of one limit; endpoints refuse a request with both. */
const LENGTHS = ['max_tokens', 'max_completion_tokens'];

/** The parameters of a request: the app's, and over them those of the turn's caller. */
export function mergeParameters(own: Given, callers: Given): Record<string, unknown> {
  const chosen = Object.entries(callers).filter(([name, value]) => CALLERS.includes(name) && value != null);
  const limited = chosen.some(([name]) => LENGTHS.includes(name));
  const kept = Object.entries(own).filter(([name]) => !(limited && LENGTHS.includes(name)));
  return Object.fromEntries([...kept, ...chosen]);
}

/** The same for the steps after the first: a call that is forced again after its result would be made without end. */
export function withoutForcedCall({ tool_choice: choice, ...others }: Given): Given {
  return choice === 'auto' || choice === 'none' ? { tool_choice: choice, ...others } : others;
}
