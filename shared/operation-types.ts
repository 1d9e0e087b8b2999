import type { Control } from './control.js';
import type { GatewayEvent, OnBusy, SessionChanges, SessionStatus, SubscriptionInfo } from './events.js';
import type { Grant, Shared, SharedBy, ShareParams } from './grants.js';
import type { InboxPage, ReadResult } from './inbox.js';
import type { ContentBlock, Message, SendInput, StopReason, Usage } from './messages.js';
import type { NoticeState, PushParams, PushResult } from './notices.js';
import type { OperationName } from './operations.js';
import type { PresenceMember, PresenceState } from './presence.js';
import type { ReactionGiven } from './reactions.js';
import type { Schedule, ScheduleParams } from './schedules.js';

/** Where a subscription without a cursor starts. `run`: the start of the active run, else now. */
export type From = 'now' | 'run' | 'earliest' | 'snapshot';

/** A session to follow, from a cursor or another start. */
export interface SubscribeTarget {
  readonly sessionId: string;
  readonly cursor?: string | undefined;
  /** Ignored with a cursor. @default 'now' */
  readonly from?: From | undefined;
}

/** A file that was uploaded. */
export interface UploadedFile {
  /** For the blocks of messages. The same bytes of the same user, under the same name and type, have the same. */
  readonly fileId: string;
  /** Where it is read, relative to the address that it was uploaded to. */
  readonly url: string;
  readonly name?: string;
  /** What its bytes say that it is. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** Of the bytes, hex. */
  readonly sha256: string;
}

/** What `send` takes: either `message` or `messages`. */
export interface SendParams {
  readonly sessionId: string;
  readonly message?: SendInput | undefined;
  /** Several messages at once: the last is answered, the others come before it in the history. */
  readonly messages?: readonly SendInput[] | undefined;
  /** Starts at most one run, for 24 hours at least. 1 to 256 printable ASCII characters. */
  readonly idempotencyKey?: string | undefined;
  /** @default 'queue' */
  readonly onBusy?: OnBusy | undefined;
  /** Id of the message that it is to follow, null for the beginning: the conversation goes on from there. @default the last one */
  readonly parent?: string | null | undefined;
  /** Id of the message that it takes the place of, as an edited one does: it follows what that followed. Only of one that is shown. */
  readonly replaces?: string | undefined;
  /** Reaches the app as `turn.metadata`; untrusted. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that the sender answers itself; the app sees them as `turn.clientTools`. Clients need the gateway's leave. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** What the sender asks of the model; the app sees it as `turn.parameters`. Clients need the gateway's leave. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

/** What `regenerate` takes. */
export interface RegenerateParams
  extends Pick<SendParams, 'sessionId' | 'idempotencyKey' | 'metadata' | 'clientTools' | 'parameters'> {
  /** Id of an answer that is shown, or of the message that is to be answered again. @default the last message of a user */
  readonly messageId?: string | undefined;
}

/** A message that is imported: as it was exported, or as somebody else wrote it. Only `content` is required. */
export interface ImportedMessage extends Partial<Omit<Message, 'content'>> {
  readonly content: string | readonly ContentBlock[];
}

/** What messages that are imported look like: this gateway's own, AI SDK `UIMessage`s, or those of OpenAI chat completions. */
export type ImportFormat = 'messages' | 'ui' | 'openai';

/** What `import` takes. */
export interface ImportParams {
  readonly sessionId: string;
  /** In their order, the oldest first. */
  readonly messages: readonly unknown[];
  /** @default 'messages' */
  readonly format?: ImportFormat | undefined;
  readonly title?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** What `export` streams: the messages that the conversation shows, or the events that are kept of it, the oldest first. */
export type ExportedKind = 'messages' | 'events' | 'schedules';

/** Where a conversation stands that was moved or begun. */
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
  /** Whether the model has to keep to the schema exactly, where its provider can have it do so. */
  readonly strict?: boolean | undefined;
}

/** What `update` takes. */
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
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Place of `message_end`. */
  readonly cursor: string;
}

/** What a run is doing: `waiting` is for a person. */
export type RunState = 'queued' | 'running' | 'waiting' | 'ended';

/** A run, whoever began it and whenever: it is known for 24 hours after its end at least. */
export interface RunInfo {
  readonly runId: string;
  /** The session it belongs to. */
  readonly sessionId: string;
  readonly state: RunState;
  /** The place just before its `message_accepted`: its events come behind it. */
  readonly cursor: string;
  /** Once it has ended. */
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
  /** The beginning of the last message that has text, in one line of 160 characters at most. */
  readonly preview?: string | undefined;
  /** Messages of the path that is shown. */
  readonly messageCount: number;
  /** Questions that nobody has answered yet. */
  readonly pending: number;
  readonly archived: boolean;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The session that it began as a copy of, and the last message that it has from there. */
  readonly forkedFrom?: { readonly sessionId: string; readonly messageId: string | null } | undefined;
  /** How it is reached, where it is somebody else's. */
  readonly sharedBy?: SharedBy | undefined;
  readonly createdAt: number;
  /** When it was last used: something was sent, answered, asked or moved. */
  readonly updatedAt: number;
}

/** An app of a list. */
export interface AppSummary {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isDefault: boolean;
  readonly tools: readonly ToolSummary[];
  /** The data blocks that it declares, with what it says in them; others may come too. */
  readonly data?: readonly PayloadSummary[] | undefined;
  /** The questions that it declares, with what answers them; others may come too. */
  readonly questions?: readonly PayloadSummary[] | undefined;
}

/** A tool of an app. */
export interface ToolSummary {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of what it is called with; absent without a schema or where it cannot be converted (`problem` says why). */
  readonly input?: unknown;
  readonly problem?: string | undefined;
}

/** What `status` says of a session. */
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

/** What `status` says of the gateway itself. */
export interface GatewayStatus {
  readonly gatewayId: string;
  readonly protocol: { readonly min: number; readonly max: number };
  readonly draining: boolean;
  readonly user: { readonly id: string } | null;
}

/** A method as the catalogue lists it. */
export interface MethodSummary {
  readonly path: string;
  readonly description?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly stream: boolean;
  /** JSON Schema of the caller's side; null without a schema or where it cannot be converted (`problem` says why). */
  readonly params: unknown;
  /** Whether `params` may be left out, which its schema has no word for. */
  readonly paramsOptional?: boolean | undefined;
  readonly result: unknown;
  readonly problem?: string | undefined;
}

/** A document in a format of others, which says itself how it is to be read. */
export type ApiDocument = Readonly<Record<string, unknown>>;
/** A declared channel or custom event as the catalogue lists it. */
export interface PayloadSummary {
  readonly name: string;
  /** JSON Schema of what is published; null where it cannot be converted (`problem` says why). */
  readonly payload: unknown;
  readonly problem?: string | undefined;
}

/** Params and result of every operation. */
export interface OperationTypes {
  send: { params: SendParams; result: RunResult | Accepted };
  regenerate: { params: RegenerateParams; result: RunResult | Accepted };
  move: {
    params: {
      readonly sessionId: string;
      /** Id of the message that the conversation is to end at; null for the beginning. Either this or `version`. */
      readonly tip?: string | null | undefined;
      /** Id of a version of a message: the conversation goes on from that as it did last. */
      readonly version?: string | undefined;
    };
    result: HistoryPlace;
  };
  fork: {
    params: {
      readonly sessionId: string;
      /** Key of the new session, of the same app. */
      readonly to: string;
      /** Id of the last message that it begins with. @default the last one that is shown */
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
    result: Message | GatewayEvent | Schedule;
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
  schedule: { params: ScheduleParams; result: { readonly schedule: Schedule } };
  unschedule: {
    params: { readonly sessionId: string; readonly id: string };
    result: { readonly ok: true };
  };
  schedules: {
    params: { readonly sessionId: string };
    /** In the order in which they fire next. */
    result: { readonly schedules: readonly Schedule[] };
  };
  read: {
    params: {
      readonly sessionId: string;
      /** Everything up to here was read. @default the end of the conversation */
      readonly cursor?: string | undefined;
    };
    result: ReadResult;
  };
  inbox: {
    params: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
    result: InboxPage;
  };
  notices: {
    params: { readonly sessionId: string };
    /** The newest first. */
    result: { readonly notices: readonly NoticeState[] };
  };
  push: { params: PushParams; result: PushResult };
  share: { params: ShareParams; result: Shared };
  unshare: {
    params: { readonly sessionId: string; readonly grantId: string };
    result: { readonly ok: true };
  };
  grants: {
    params: { readonly sessionId: string };
    /** The oldest first. */
    result: { readonly grants: readonly Grant[] };
  };
  'take-over': {
    params: {
      readonly sessionId: string;
      readonly reason?: string | undefined;
      /** After so many milliseconds control falls back to the app. @default it does not */
      readonly untilMs?: number | undefined;
    };
    result: { readonly control: Control };
  };
  'hand-back': {
    params: {
      readonly sessionId: string;
      readonly note?: string | undefined;
      /** Whether the app is to answer the last message, where nobody has. @default false */
      readonly answer?: boolean | undefined;
    };
    /** `runId` is the run that answers it. */
    result: { readonly runId?: string | undefined };
  };
  react: {
    params: Omit<ReactionGiven, 'by' | 'comment'> & {
      readonly sessionId: string;
      readonly comment?: string | undefined;
    };
    result: { readonly ok: true };
  };
  presence: {
    params: {
      readonly sessionId: string;
      /** Of a connection that follows the session, as `connected` says it: what it is told, and how long this one is there. */
      readonly connectionId: string;
      /** `gone` is told no more either. @default who asks is told who is there, and is not there */
      readonly state?: PresenceState | 'gone' | undefined;
      /** What the page says of who uses it; JSON. */
      readonly data?: unknown;
    };
    /** `id` names who asks among them. */
    result: { readonly id: string; readonly members: readonly PresenceMember[] };
  };
  abort: {
    params: {
      readonly sessionId: string;
      readonly runId?: string | undefined;
      readonly reason?: string | undefined;
    };
    result: { readonly aborted: boolean };
  };
  close: { params: { readonly sessionId: string }; result: { readonly ok: true } };
  'tool-response': {
    params: {
      readonly sessionId: string;
      readonly callId: string;
      readonly approved?: boolean | undefined;
      readonly reason?: string | undefined;
      readonly input?: unknown;
      /** The `inputHash` of the question's policy: what the person has seen. Another one is refused. */
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
      /** Those that are archived, or those that are not. @default false */
      readonly archived?: boolean | undefined;
      readonly status?: SessionStatus | undefined;
      /** A part of the title, in capitals or not. */
      readonly query?: string | undefined;
      /** Those that others share with the caller, instead of its own. @default false */
      readonly shared?: boolean | undefined;
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
  asyncapi: { params: Record<never, never>; result: ApiDocument };
}

/** The params of an operation. */
export type ParamsOf<Name extends OperationName> = OperationTypes[Name]['params'];
/** The result of an operation. */
export type ResultOf<Name extends OperationName> = OperationTypes[Name]['result'];
export type { SubscriptionInfo };
