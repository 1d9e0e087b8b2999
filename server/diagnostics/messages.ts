import type { UserContext } from '../../shared/contract.js';
import type { ContentBlock, Usage } from '../../shared/messages.js';
import type { ParentSpan } from '../../shared/method.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';

/** What a message gains when the work it tells of is over. */
export interface TraceOutcome<Result = unknown> {
  /** What came of it. It holds what people wrote: don't log it whole. */
  result?: Result;
  /** What it failed with, as it was thrown: clients may have been told less. */
  error?: unknown;
  /** Milliseconds that it took. There as soon as `result` or `error` is. */
  ms?: number;
  /** The code of a `GatewayError` or `StoreError`; `INTERNAL` for any other error, as clients are told. */
  code?: string;
}

/** Whose trace a piece of work belongs to. */
export interface TraceOrigin {
  /** 16 bytes, hex: of the caller's trace, or made for this call. */
  readonly traceId: string;
  /** The caller's own span, where its `traceparent` named one. */
  readonly parentSpan?: ParentSpan | undefined;
}

/** Who called for an operation, and which. */
export interface OperationMessage extends TraceOutcome {
  readonly gatewayId: string;
  /** `events` opens a stream of events; `tool-call` is a call of a tool outside of any run; `upload` and `file` take in and serve one. */
  readonly operation: OperationName | 'events' | 'tool-call' | 'upload' | 'file';
  /** `http`, `sse`, `websocket`, `unix-socket`, `in-process`, `host`, or the name of a plugin. */
  readonly transport: string;
  readonly user: UserContext;
  /** Of the connection, or of this call alone. */
  readonly clientId: string;
  readonly connectionId?: string | undefined;
  /** Names the request in its answer, its error and the log: its `X-Request-Id`, or a new one. */
  readonly requestId: string;
  /** Absent for `events`. */
  readonly trace?: TraceOrigin | undefined;
  /** Canonical key; absent where none was named, or one that is malformed or of no app. */
  readonly sessionId?: string | undefined;
  /** Path of the method of an `invoke`; absent where there is no such method. */
  readonly method?: string | undefined;
  /** The run that a `send` began or joined, once it is known; the one that an `abort` names. */
  runId?: string | undefined;
  /** Whether a `send` was answered by its idempotency key, once that is known. */
  repeated?: boolean;
}

/** A run. One that ends before it starts, in the queue, is told of all at once, with `started: false`. */
export interface RunMessage extends TraceOutcome<RunResult> {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Names the conversation; absent where the log was lost before the run began. */
  readonly epoch?: string | undefined;
  readonly runId: string;
  readonly user: UserContext | null;
  /** Of the send that began it. Kept with the run, so that it is there too where another process goes on with it. */
  readonly trace?: TraceOrigin | undefined;
  /** Of the request that began it; absent where a former process did. */
  readonly requestId?: string | undefined;
  /** False where it ended before its app was called. */
  readonly started: boolean;
  /** Whether a former process had begun it. */
  readonly resumed: boolean;
  /** Milliseconds from its acceptance, or from when this process took it up, to its start. */
  readonly queuedMs: number;
  /** Milliseconds from its start to its first text or reasoning; there at its end, if it had any. */
  firstDeltaMs?: number;
}

/** A call of a tool. The time that a person was waited for is part of it. */
export interface ToolMessage extends TraceOutcome {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Names the conversation. */
  readonly epoch?: string | undefined;
  /** Absent where it belongs to no run. */
  readonly runId?: string | undefined;
  readonly callId: string;
  /** Name, as it was asked for: there may be no such tool. */
  readonly tool: string;
  readonly user: UserContext | null;
}

/** What a model has answered. */
export interface ModelAnswer {
  /** Of the answer, as its provider names it. */
  readonly id?: string | undefined;
  /** The model that answered, as it calls itself. */
  readonly model?: string | undefined;
  /** Why it stopped, in its provider's words. */
  readonly finishReasons: readonly string[];
  readonly usage?: Usage | undefined;
  /** What it said: text, reasoning and calls of tools. */
  readonly content: readonly ContentBlock[];
}

/** A call of a model by one of this package's app adapters, until its answer has ended. Each attempt that the adapter sees is one. */
export interface ModelMessage extends TraceOutcome<ModelAnswer> {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Names the conversation. */
  readonly epoch: string;
  readonly runId: string;
  readonly user: UserContext | null;
  /** Who asks: `openai`, `ai-sdk`, `agents` or `langgraph`. */
  readonly adapter: string;
  /** Who is asked, as OpenTelemetry names providers: `openai`, `anthropic`, `gcp.gemini`, …; as the library calls it where it has no name there. */
  readonly provider?: string | undefined;
  /** The model that is asked for; absent where only its answer names it, as with a `Model` object of the Agents SDK. */
  readonly model?: string | undefined;
  /** Where its endpoint is, as far as the adapter knows. */
  readonly server?: { readonly address: string; readonly port?: number | undefined } | undefined;
  /** What is asked of it besides; no text. */
  readonly settings: ModelSettings;
  /** Milliseconds until it had said something; there at the end, if it has. */
  firstDeltaMs?: number;
}

/** Settings of a call, as far as they are given. */
export interface ModelSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** An append to the store: one batch of a session's events. */
export interface AppendMessage
  extends TraceOutcome<{ readonly first: number; readonly last: number; readonly duplicate?: unknown }> {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Names the conversation. */
  readonly epoch: string;
  /** Of the first event that belongs to a run. */
  readonly runId?: string | undefined;
  /** How many events. */
  readonly events: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
}

/**
 * Why a connection ended. By the gateway: `rotate` (it was open for long), `drain`, `slow`, `expired`, `interrupted` (it can't be
 * served here any more, or another one took its place), `failed` (it was refused, or broke the protocol). `done`: the one run it
 * followed has ended. `left`: the client went away.
 */
export type ConnectionEndReason =
  | 'rotate'
  | 'drain'
  | 'slow'
  | 'expired'
  | 'interrupted'
  | 'failed'
  | 'done'
  | 'left';

/** A connection that has ended. */
export interface ConnectionEndMessage {
  readonly gatewayId: string;
  readonly connectionId: string;
  /** `sse`, `websocket`, `unix-socket`, `in-process`, `host`, or a plugin's name. */
  readonly transport: string;
  readonly user: UserContext;
  readonly reason: ConnectionEndReason;
  /** Milliseconds it was open. */
  readonly openMs: number;
  /** Sessions it followed. */
  readonly subscriptions: number;
  /** Whether it counted as a client; a stream of one run, and a reader in this process, does not. */
  readonly client: boolean;
}
