import type { OnBusy, SessionStatus, SubscriptionInfo } from './events.js';
import type { Message, SendInput, StopReason, Usage } from './messages.js';
import type { OperationName } from './operations.js';

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
  /** Reaches the app as `turn.metadata`; untrusted. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that the sender answers itself; the app sees them as `turn.clientTools`. Clients need the gateway's leave. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** What the sender asks of the model; the app sees it as `turn.parameters`. Clients need the gateway's leave. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
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
  readonly createdAt: number;
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
    params: { readonly limit?: number | undefined; readonly before?: string | undefined };
    result: { readonly sessions: readonly SessionSummary[]; readonly cursor: string | null };
  };
  apps: { params: Record<never, never>; result: { readonly apps: readonly AppSummary[] } };
  status: {
    params: { readonly sessionId?: string | undefined };
    result: SessionStatusResult | GatewayStatus;
  };
  run: {
    params: {
      readonly runId: string;
      /** Where it is known, only that session is looked into. */
      readonly sessionId?: string | undefined;
    };
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
