/** The part of a compiled graph that is used here. Described rather than imported, so that any 1.x version of `@langchain/langgraph` fits. */
export interface CompiledGraph {
  stream(input: any, options?: any): Promise<AsyncIterable<any>>;
  getState?(config: any): Promise<GraphState>;
  readonly checkpointer?: unknown;
  readonly nodes?: Readonly<Record<string, unknown>>;
}

/** The class of the command that resumes a graph. */
export type CommandClass = new (command: { resume: unknown }) => object;

/** The part of a thread's state that is used here. */
export interface GraphState {
  readonly values: any;
  /** Nodes that run next. */
  readonly next?: readonly string[];
  /** The nodes that run there, with the interrupts that they wait in. */
  readonly tasks?: readonly {
    readonly interrupts?: readonly { readonly id?: string; readonly value?: unknown }[];
  }[];
}

/** A LangChain message as a plain object. Graphs accept it, and instances of the message classes have the same form. */
export interface GraphMessage {
  readonly role?: string;
  readonly type?: string;
  readonly id?: string | undefined;
  readonly content?: string | readonly GraphContent[];
  readonly name?: string | undefined;
  readonly tool_calls?: readonly GraphToolCall[] | undefined;
  readonly tool_call_chunks?: readonly GraphToolCallChunk[] | undefined;
  readonly tool_call_id?: string | undefined;
  readonly status?: string | undefined;
  readonly usage_metadata?: GraphUsage | undefined;
  readonly additional_kwargs?: Readonly<Record<string, unknown>> | undefined;
  readonly response_metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A tool's result, of a type that a graph's node may return. */
export type GraphToolMessage = {
  role: 'tool';
  id?: string;
  tool_call_id: string;
  name: string;
  content: string;
  status: 'error' | 'success';
  additional_kwargs?: Record<string, unknown>;
};

export type GraphContent = Readonly<Record<string, unknown>> & { readonly type?: string };

/** A tool call of a message. */
export interface GraphToolCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: any;
  readonly type?: 'tool_call' | undefined;
}

export interface GraphToolCallChunk {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: string | undefined;
  readonly index?: number | undefined;
}

interface GraphUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly total_tokens?: number;
  readonly input_token_details?: { readonly cache_read?: number };
  readonly output_token_details?: { readonly reasoning?: number };
}

/** The origin of a message, as LangGraph reports it. */
export interface GraphMessageMetadata {
  readonly langgraph_node?: string;
  readonly tags?: readonly string[];
  readonly [name: string]: unknown;
}

export type GraphRole = 'user' | 'assistant' | 'system' | 'tool';

const ROLES: Readonly<Record<string, GraphRole>> = {
  human: 'user',
  user: 'user',
  ai: 'assistant',
  AIMessageChunk: 'assistant',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
  tool: 'tool',
};

/** The role of a message; null for other values, and for kinds without a counterpart. */
export function roleOf(message: unknown): GraphRole | null {
  if (typeof message !== 'object' || message === null) return null;
  const { role, type } = message as GraphMessage;
  return ROLES[role ?? type ?? ''] ?? null;
}

/** The messages of a state or update, under any name. */
export function messagesIn(update: unknown): GraphMessage[] {
  if (typeof update !== 'object' || update === null) return [];
  if (Array.isArray(update)) return update.flatMap((one) => (roleOf(one) ? [one] : messagesIn(one)));
  if (roleOf(update)) return [update as GraphMessage];
  return Object.values(update).flatMap((value) =>
    roleOf(value) ? [value as GraphMessage] : Array.isArray(value) ? value.filter((one) => roleOf(one)) : [],
  );
}
