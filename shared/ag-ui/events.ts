/** A call of a tool in an AG-UI message. */
export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The source of a part's bytes. */
export type AgUiSource =
  | { readonly type: 'data'; readonly value: string; readonly mimeType: string }
  | { readonly type: 'url'; readonly value: string; readonly mimeType?: string };

/** A part of a user's message. */
export type AgUiPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'video' | 'document'; readonly source: AgUiSource };

/** A message of an AG-UI conversation. One answer of ours may be several of them. */
export type AgUiMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: string | readonly AgUiPart[] }
  | {
      readonly id: string;
      readonly role: 'system' | 'developer' | 'reasoning';
      readonly content: string;
    }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly AgUiToolCall[];
    }
  | {
      readonly id: string;
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly content: string;
    };

/** A message as a client sent it. */
export type GivenMessage = { readonly id: string; readonly role: string } & Readonly<Record<string, unknown>>;

/** A question that ends a run of an interface until it is answered. */
export interface AgUiInterrupt {
  /** Id of the call that the question is about. `resume` names it. */
  readonly id: string;
  readonly reason: 'tool_call' | 'confirmation';
  readonly message?: string;
  readonly toolCallId?: string;
  /** JSON Schema of the answer. */
  readonly responseSchema: object;
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** How a run of an interface ended. */
export type AgUiOutcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: 'cancelled' };

/** An event of the AG-UI protocol, as far as gateways tell them. */
export type AgUiEvent =
  | {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion?: string;
    }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUiOutcome;
      readonly usage?: readonly Readonly<Record<string, number>>[];
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code: string }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly GivenMessage[] }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | {
      readonly type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT';
      readonly messageId: string;
      readonly delta: string;
    }
  | {
      readonly type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END';
      readonly messageId: string;
    }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    }
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentSubagentRunId?: string;
      readonly parentToolCallId?: string;
    }
  | {
      readonly type: 'SUBAGENT_FINISHED';
      readonly subagentRunId: string;
      readonly result?: string;
      readonly outcome: { readonly type: 'success' | 'suspended' };
    }
  | {
      readonly type: 'SUBAGENT_ERROR';
      readonly subagentRunId: string;
      readonly message: string;
      readonly code: string;
    }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown }
  | ({ readonly type: AgUiPassedOn } & Readonly<Record<string, unknown>>);

/** Events that an app may give itself, as custom events with these names: shared state, activities. */
export const PASSED_ON = ['STATE_SNAPSHOT', 'STATE_DELTA', 'ACTIVITY_SNAPSHOT', 'ACTIVITY_DELTA'] as const;

/** The name of an event that apps give themselves. */
export type AgUiPassedOn = (typeof PASSED_ON)[number];

/** The version of the protocol that a client knows. `'1.0'` says so itself; earlier clients fail on events that they do not know. */
export type AgUiVersion = '0' | '1.0';

/** A client's names for its thread and its run, and its behaviour. */
export interface AgUiNames {
  readonly threadId: string;
  /** The client's own id of its run. */
  readonly runId: string;
  readonly version: AgUiVersion;
  /** Whether the client waits for an event before it runs its own tools, as TanStack AI does. @default false */
  readonly waitsToRun?: boolean;
}
