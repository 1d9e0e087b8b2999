import type { Control } from './control.js';
import type { GatewayEvent, OnBusy, SessionChanges, SessionStatus, SubscriptionInfo } from './events.js';
import type { FeatureExports, FeatureOperations } from './features.js';
import type { Grant, Shared, SharedBy, ShareParams } from './grants.js';
import type { ContentBlock, Message, SendInput, StopReason, Usage } from './messages.js';
import type { OperationName } from './operations.js';
import type { UserName } from './user-name.js';

/** The start of a subscription without a cursor. `run`: the start of the active run, else now. */
export type From = 'now' | 'run' | 'earliest' | 'snapshot';

/** A session to follow, from a cursor or another start. */
export interface SubscribeTarget {
  readonly sessionId: string;
  readonly cursor?: string | undefined;
  /** Ignored with a cursor. @default 'now' */
  readonly from?: From | undefined;
}

/** Parameters of `send`: either `message` or `messages`. */
export interface SendParams {
  readonly sessionId: string;
  readonly message?: SendInput | undefined;
  /** Several messages at once. The last is answered; the others come before it in the history. */
  readonly messages?: readonly SendInput[] | undefined;
  /** Starts at most one run, for 24 hours at least. 1 to 256 printable ASCII characters. */
  readonly idempotencyKey?: string | undefined;
  /** @default 'queue' */
  readonly onBusy?: OnBusy | undefined;
  /**
   * `new`: the run begins at once in a lane of its own, beside the answer that is being written. Message and answer join the conversation
   * when the run ends. Goes with one message, and with no place or `onBusy`.
   */
  readonly lane?: 'new' | undefined;
  /** `false`: message and answer of a run in a lane of its own do not join the conversation. @default true */
  readonly keep?: boolean | undefined;
  /** Id of the new message's parent, null for the beginning. The conversation continues from there. @default the last message */
  readonly parent?: string | null | undefined;
  /** Id of the message that this one replaces (an edit). The new message gets the same parent. The old one must be on the current path. */
  readonly replaces?: string | undefined;
  /** The only user who may send this: `OTHER_USER` for any other caller. Clients that repeat a send ask for it. */
  readonly onlyAs?: UserName | undefined;
  /** The app sees it as `turn.metadata`. Untrusted. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that the sender answers itself. The app sees them as `turn.clientTools`. Clients need the gateway's leave. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** The sender's wishes to the model. The app sees them as `turn.parameters`. Clients need the gateway's leave. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Outputs of tools for this run, in place of calls of them: to try how it goes on otherwise. Clients need the gateway's leave. */
  readonly toolOutputs?: readonly GivenOutput[] | undefined;
}

/** The output of a tool that a run is given in place of a call. */
export interface GivenOutput {
  readonly name: string;
  /** Calls with this input alone. @default all calls of the tool */
  readonly input?: unknown;
  readonly output: unknown;
}

/** Parameters of `regenerate`. */
export interface RegenerateParams
  extends Pick<
    SendParams,
    'sessionId' | 'idempotencyKey' | 'onlyAs' | 'metadata' | 'clientTools' | 'parameters' | 'toolOutputs'
  > {
  /** Id of a shown answer, or of the message to answer again. @default the last message of a user */
  readonly messageId?: string | undefined;
}

/** An imported message, exported from here or written elsewhere. Only `content` is required. */
export interface ImportedMessage extends Partial<Omit<Message, 'content'>> {
  readonly content: string | readonly ContentBlock[];
}

/** The format of imported messages: this gateway's own, AI SDK `UIMessage`s, or those of OpenAI chat completions. */
export type ImportFormat = 'messages' | 'ui' | 'openai';

/** Parameters of `import`. */
export interface ImportParams {
  readonly sessionId: string;
  /** The messages, the oldest first. With a title or metadata there may be none: the session begins before anything is said in it. */
  readonly messages: readonly unknown[];
  /** @default 'messages' */
  readonly format?: ImportFormat | undefined;
  readonly title?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The items of an `export`, by kind, the oldest first: the shown messages, the kept events, and what features have. */
export interface ExportedItems extends FeatureExports {
  messages: Message;
  events: GatewayEvent;
}

/** A kind of the items of an `export`. */
export type ExportedKind = keyof ExportedItems;

/** The end of a conversation that was moved or begun. */
export interface HistoryPlace {
  /** Id of its last message; null for an empty one. */
  readonly tip: string | null;
  readonly cursor: string;
}

/** A tool that the sender of a message brings along and answers itself. */
export interface ClientTool {
  /** 1 to 256 characters, each name once. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the input. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the model must keep to the schema exactly, if its provider can enforce it. */
  readonly strict?: boolean | undefined;
}

/** Parameters of `update`. */
export interface UpdateParams extends SessionChanges {
  readonly sessionId: string;
}

/** A message was accepted; its run is or will be in the session's events after `cursor`. */
export interface Accepted {
  readonly runId: string;
  readonly message: Message;
  readonly position: number;
  /** The place just before `message_accepted`. */
  readonly cursor: string;
}

/** The outcome of a run. */
export interface RunResult {
  readonly runId: string;
  readonly message: Message;
  readonly stopReason: StopReason;
  readonly intoRunId?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly totalUsage?: Usage | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Place of `message_end`. */
  readonly cursor: string;
}

/** The state of a run; `waiting` is for a person. */
export type RunState = 'queued' | 'running' | 'waiting' | 'ended';

/** A run, no matter what began it. It is known for at least 24 hours after its end. */
export interface RunInfo {
  readonly runId: string;
  /** The session it belongs to. */
  readonly sessionId: string;
  readonly state: RunState;
  /** The place just before its `message_accepted`. Its events follow it. */
  readonly cursor: string;
  /** The result, once the run has ended. */
  readonly result?: RunResult | undefined;
}

/** A page of history, oldest first. */
export interface HistoryPage {
  readonly messages: readonly Message[];
  /** Pass as `before` for the page of older messages; null at the beginning. */
  readonly cursor: string | null;
  readonly hasMore: boolean;
}

/** A session of a list. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly app: string;
  readonly status: SessionStatus;
  readonly title?: string | undefined;
  /** The first 160 characters of the last message that has text, in one line. */
  readonly preview?: string | undefined;
  /** Number of messages of the current path. */
  readonly messageCount: number;
  /** Questions that nobody has answered yet. */
  readonly pending: number;
  /** Absent unless the last message is an answer that failed: by an error, a time limit or the loss of its gateway. */
  readonly failed?: true | undefined;
  readonly archived: boolean;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The original of a copied session, and the last copied message. */
  readonly forkedFrom?: { readonly sessionId: string; readonly messageId: string | null } | undefined;
  /** The grant that reaches the session, if somebody else owns it. */
  readonly sharedBy?: SharedBy | undefined;
  /** The owner, in a list of the sessions of all users. Absent if the session belongs to several. */
  readonly owner?: UserName | undefined;
  readonly createdAt: number;
  /** The time of its last use: a send, an answer, a question or a move. */
  readonly updatedAt: number;
}

/** An app of a list. */
export interface AppSummary {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isDefault: boolean;
  /** Messages with which a conversation may begin, as the app suggests. */
  readonly suggestions?: readonly Suggestion[] | undefined;
  readonly tools: readonly ToolSummary[];
  /** The data blocks that it declares, with their schemas; others may come too. */
  readonly data?: readonly PayloadSummary[] | undefined;
  /** The questions that it declares, with the schemas of their answers; others may come too. */
  readonly questions?: readonly PayloadSummary[] | undefined;
}

/** A message to begin with. */
export interface Suggestion {
  readonly text: string;
  /** Said below the text, such as what comes of it. */
  readonly shows?: string | undefined;
}

/** A tool of an app. */
export interface ToolSummary {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the input; absent without a schema, or if it cannot be converted (`problem` says why). */
  readonly input?: unknown;
  readonly problem?: string | undefined;
}

/** The `status` of a session. */
export interface SessionStatusResult {
  readonly sessionId: string;
  readonly app: string;
  readonly status: SessionStatus;
  readonly runId?: string | undefined;
  readonly queued: number;
  readonly epoch: string;
  readonly first: number;
  readonly head: number;
  readonly cursor: string;
}

/** The `status` of the gateway itself. */
export interface GatewayStatus {
  readonly gatewayId: string;
  readonly protocol: { readonly min: number; readonly max: number };
  readonly draining: boolean;
  readonly user: UserName | null;
  /** The caller may read the sessions of all users. */
  readonly oversees?: true | undefined;
}

/** A method as the catalogue lists it. */
export interface MethodSummary {
  readonly path: string;
  readonly description?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly stream: boolean;
  /** JSON Schema of the caller's side; null without a schema, or if it cannot be converted (`problem` says why). */
  readonly params: unknown;
  /** Whether `params` may be left out, which JSON Schema cannot express. */
  readonly paramsOptional?: boolean | undefined;
  readonly result: unknown;
  readonly problem?: string | undefined;
}

/** A document in a standard format, such as OpenAPI. */
export type ApiDocument = Readonly<Record<string, unknown>>;
/** A declared channel or custom event as the catalogue lists it. */
export interface PayloadSummary {
  readonly name: string;
  /** JSON Schema of the payload; null if it cannot be converted (`problem` says why). */
  readonly payload: unknown;
  readonly problem?: string | undefined;
}

/** Params and result of every operation. */
export interface OperationTypes extends FeatureOperations {
  send: { params: SendParams; result: RunResult | Accepted };
  regenerate: { params: RegenerateParams; result: RunResult | Accepted };
  append: {
    params: {
      readonly sessionId: string;
      /** The messages, the oldest first. One with an `id` comes once, however often it is sent. */
      readonly messages: readonly SendInput[];
    };
    /** The messages as they are kept, and the end of the conversation. */
    result: HistoryPlace & { readonly messages: readonly Message[] };
  };
  move: {
    params: {
      readonly sessionId: string;
      /** Id of the message that the conversation is to end at; null for the beginning. Give either this or `version`. */
      readonly tip?: string | null | undefined;
      /** Id of a version of a message. The conversation continues from its last tip after that version. */
      readonly version?: string | undefined;
    };
    result: HistoryPlace;
  };
  fork: {
    params: {
      readonly sessionId: string;
      /** Key of the new session, of the same app. */
      readonly to: string;
      /** Id of the last copied message. @default the last shown message */
      readonly at?: string | undefined;
    };
    result: HistoryPlace & { readonly sessionId: string };
  };
  delete: { params: { readonly sessionId: string }; result: { readonly ok: true } };
  import: { params: ImportParams; result: HistoryPlace & { readonly sessionId: string } };
  export: {
    params: {
      readonly sessionId: string;
      /** @default 'messages' */
      readonly what?: ExportedKind | undefined;
    };
    /** Each item. */
    result: ExportedItems[ExportedKind];
  };
  invoke: {
    params: {
      readonly method: string;
      readonly params?: unknown;
      readonly sessionId?: string | undefined;
      /** For the method's `context.lastEventId`. */
      readonly lastEventId?: string | undefined;
    };
    result: unknown;
  };
  subscribe: {
    params: {
      readonly connectionId: string;
      readonly sessionId?: string | undefined;
      readonly add?: readonly (string | SubscribeTarget)[] | undefined;
      readonly remove?: readonly string[] | undefined;
    };
    result: { readonly subscriptions: readonly string[] };
  };
  update: { params: UpdateParams; result: { readonly ok: true } };
  share: { params: ShareParams; result: Shared };
  unshare: {
    params: { readonly sessionId: string; readonly grantId: string };
    result: { readonly ok: true };
  };
  grants: {
    params: { readonly sessionId: string };
    /** The grants, the oldest first. */
    result: { readonly grants: readonly Grant[] };
  };
  'take-over': {
    params: {
      readonly sessionId: string;
      readonly reason?: string | undefined;
      /** Milliseconds after which control falls back to the app. @default it does not */
      readonly untilMs?: number | undefined;
    };
    result: { readonly control: Control };
  };
  'hand-back': {
    params: {
      readonly sessionId: string;
      readonly note?: string | undefined;
      /** Whether the app must answer the last message, if nobody has. @default false */
      readonly answer?: boolean | undefined;
    };
    /** `runId` is the run that answers it. */
    result: { readonly runId?: string | undefined };
  };
  abort: {
    params: {
      readonly sessionId: string;
      readonly runId?: string | undefined;
      readonly reason?: string | undefined;
    };
    result: { readonly aborted: boolean };
  };
  steer: {
    params: {
      readonly sessionId: string;
      /** Id of a child run, or of another run beside the conversation. */
      readonly runId: string;
      /** A message with an `id` comes once, however often it is sent. */
      readonly message: SendInput;
    };
    result: { readonly messageId: string };
  };
  close: { params: { readonly sessionId: string }; result: { readonly ok: true } };
  'tool-response': {
    params: {
      readonly sessionId: string;
      readonly callId: string;
      readonly approved?: boolean | undefined;
      readonly reason?: string | undefined;
      readonly input?: unknown;
      /** The `inputHash` of the question's policy that the person has seen. A different hash is refused. */
      readonly inputHash?: string | undefined;
      readonly output?: unknown;
    };
    result: { readonly ok: true };
  };
  channel: {
    params: {
      readonly sessionId: string;
      readonly channel: string;
      readonly type?: string | undefined;
      readonly payload?: unknown;
    };
    result: { readonly ok: true };
  };
  ticket: { params: Record<never, never>; result: { readonly ticket: string; readonly expiresAt: number } };
  history: {
    params: {
      readonly sessionId: string;
      readonly limit?: number | undefined;
      readonly before?: string | undefined;
    };
    result: HistoryPage;
  };
  sessions: {
    params: {
      readonly limit?: number | undefined;
      readonly before?: string | undefined;
      /** Lists archived sessions, or those that are not archived. @default false */
      readonly archived?: boolean | undefined;
      readonly status?: SessionStatus | undefined;
      /** Lists only sessions whose last message is an answer that failed. @default false */
      readonly failed?: boolean | undefined;
      /** A part of the title, in any case. */
      readonly query?: string | undefined;
      /** Sessions of this app only. */
      readonly app?: string | undefined;
      /** Lists the sessions that others share with the caller, instead of its own. @default false */
      readonly shared?: boolean | undefined;
      /** Lists the sessions of all users, for a caller who may read them (`oversight`). @default false */
      readonly all?: boolean | undefined;
    };
    result: { readonly sessions: readonly SessionSummary[]; readonly cursor: string | null };
  };
  apps: { params: Record<never, never>; result: { readonly apps: readonly AppSummary[] } };
  status: {
    params: { readonly sessionId?: string | undefined };
    result: SessionStatusResult | GatewayStatus;
  };
  run: {
    params: { readonly sessionId: string; readonly runId: string };
    result: RunInfo;
  };
  methods: {
    params: Record<never, never>;
    result: {
      readonly version: number;
      readonly methods: readonly MethodSummary[];
      /** The channels and custom events that the gateway declares; others may be used too. */
      readonly channels?: readonly PayloadSummary[] | undefined;
      readonly events?: readonly PayloadSummary[] | undefined;
    };
  };
  openapi: { params: Record<never, never>; result: ApiDocument };
}

/** The params of an operation. */
export type ParamsOf<Name extends OperationName> = OperationTypes[Name]['params'];
/** The result of an operation. */
export type ResultOf<Name extends OperationName> = OperationTypes[Name]['result'];
export type { SubscriptionInfo };
