/** An item of a response, or of its input. */
export type ResponseItem = { readonly type: string; readonly id?: string } & Readonly<
  Record<string, unknown>
>;

/** A tool that a caller brings along: a function, or a tool with text input. */
export type ResponseTool = ResponseFunctionTool | ResponseCustomTool;

/** A tool with text input. */
export interface ResponseCustomTool {
  readonly type: 'custom';
  readonly name: string;
  readonly description: string | null;
  readonly format: Readonly<Record<string, unknown>>;
}

/** A function. */
export interface ResponseFunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string | null;
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly strict: boolean | null;
}

/** The request fields that a response repeats. They are kept with the message, so that each reader is told the same. */
export interface ResponseEcho {
  readonly model?: string;
  readonly previous_response_id?: string;
  readonly tools?: readonly ResponseTool[];
  readonly conversation?: { readonly id: string };
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** A response as the API returns it. */
export interface ResponseObject extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly object: 'response';
  readonly status: ResponseStatus;
  readonly output: readonly ResponseItem[];
}

/** An event of a response's stream. */
export interface ResponseEventFrame extends Readonly<Record<string, unknown>> {
  readonly type: string;
  /** Dense from 0 in each response, and the same for every reader. */
  readonly sequence_number: number;
}

/** Options of how the app's own tools are told. */
export interface ResponseWriterOptions {
  /** Whether calls of the app's own tools, and their questions, are told as those of an MCP server. @default 'show' */
  readonly ownTools?: 'show' | 'hide';
}

/** Field of a message's metadata that holds its request's echo. */
export const ECHO = 'response';

const DEFAULTS = {
  previous_response_id: null,
  instructions: null,
  tools: [],
  tool_choice: 'auto',
  truncation: 'disabled',
  parallel_tool_calls: true,
  text: { format: { type: 'text' } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: true,
  background: false,
  service_tier: 'default',
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};

/** Fields of a request that its response repeats. `instructions` hold for one answer and are not kept. */
export const ECHOED: readonly string[] = Object.keys(DEFAULTS).filter((name) => name !== 'instructions');

/** The fields of a request as a response has them, with defaults for absent ones. */
export function echoed(echo: ResponseEcho): Readonly<Record<string, unknown>> {
  const { conversation, model, ...rest } = echo;
  return { ...DEFAULTS, ...rest, ...(conversation && { conversation }) };
}

/** The echo in the metadata of a message. */
export function echoIn(metadata: Readonly<Record<string, unknown>> | undefined): ResponseEcho {
  const echo = metadata?.[ECHO];
  return typeof echo === 'object' && echo !== null && !Array.isArray(echo) ? (echo as ResponseEcho) : {};
}
