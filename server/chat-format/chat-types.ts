/** A part of a chat message's content, as in OpenAI's published field lists. */
export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly refusal: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } }
  | {
      readonly type: 'input_audio';
      readonly input_audio: { readonly data: string; readonly format: 'wav' | 'mp3' };
    }
  | {
      readonly type: 'file';
      readonly file: { readonly file_data?: string; readonly file_id?: string; readonly filename?: string };
    };

/** A call of a tool by the model; `arguments` is JSON as text. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A call of a tool whose input is text. */
export interface ChatCustomCall {
  readonly id: string;
  readonly type: 'custom';
  readonly custom: { readonly name: string; readonly input: string };
}

/** A message of a chat-completions conversation. */
export type ChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: string | readonly ChatPart[] }
  | { readonly role: 'user'; readonly content: string | readonly ChatPart[] }
  | {
      readonly role: 'assistant';
      readonly content?: string | readonly ChatPart[] | null;
      readonly refusal?: string | null;
      readonly tool_calls?: readonly ChatToolCall[];
    }
  | {
      readonly role: 'tool';
      readonly tool_call_id: string;
      readonly content: string | readonly ChatPart[];
    };

/** A tool that the caller of a completion offers. */
export interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly strict?: boolean | null;
  };
}

/** Token counts of a completion. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
}

export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';
