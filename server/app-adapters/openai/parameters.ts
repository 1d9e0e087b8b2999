type GivenParameters = Readonly<Record<string, unknown>>;

/** Fields that a caller may set. The rest of a request (model, messages, tools, streaming) is up to the app. */
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

/** Two names of one limit. Endpoints refuse a request with both. */
const LENGTHS = ['max_tokens', 'max_completion_tokens'];

/** The parameters of a request: those of the app, overridden by those of the turn's caller. */
export function mergeParameters(own: GivenParameters, callers: GivenParameters): Record<string, unknown> {
  const chosen = Object.entries(callers).filter(([name, value]) => CALLERS.includes(name) && value != null);
  const limited = chosen.some(([name]) => LENGTHS.includes(name));
  const kept = Object.entries(own).filter(([name]) => !(limited && LENGTHS.includes(name)));
  return Object.fromEntries([...kept, ...chosen]);
}

/** Parameters for the steps after the first: a forced call would be repeated after its result without end. */
export function withoutForcedCall({ tool_choice: choice, ...others }: GivenParameters): GivenParameters {
  return choice === 'auto' || choice === 'none' ? { tool_choice: choice, ...others } : others;
}
