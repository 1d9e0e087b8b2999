import type { UserContext } from '../../shared/contract.js';
import type { FeatureRoute } from '../../shared/features.js';
import type { ContentBlock, Usage } from '../../shared/messages.js';
import type { ParentSpan } from '../../shared/method.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { OperationName } from '../../shared/operations.js';
import type { Variants } from '../../shared/variants/contract.js';
import type { GuardedPart } from '../apps/guard.js';

/** The fields that a message gains at the end of its work. */
export interface TraceOutcome<Result = unknown> {
  /** The result. It contains text of people: do not log the whole of it. */
  result?: Result;
  /** The error as it was thrown. Clients may have received less. */
  error?: unknown;
  /** Duration in milliseconds. Present as soon as `result` or `error` is. */
  ms?: number;
  /** The code of a `GatewayError` or `StoreError`; `INTERNAL` for any other error, as for clients. */
  code?: string;
}

/** The trace to which a piece of work belongs. */
export interface TraceOrigin {
  /** 16 bytes in hex: the id of the caller's trace, or a new one for this call. */
  readonly traceId: string;
  /** The caller's span, if its `traceparent` has one. */
  readonly parentSpan?: ParentSpan | undefined;
}

/** An operation and its caller. */
export interface OperationMessage extends TraceOutcome {
  readonly gatewayId: string;
  /** `events` opens a stream of events; `tool-call` calls a tool outside of runs; `upload` and `file` receive and serve a file. */
  readonly operation: OperationName | FeatureRoute | 'events' | 'tool-call';
  /** `http`, `sse`, `websocket`, `unix-socket`, `in-process`, `host`, or the name of a plugin. */
  readonly transport: string;
  readonly user: UserContext;
  /** Id of the connection, or of this call only. */
  readonly clientId: string;
  readonly connectionId?: string | undefined;
  /** Identifies the request in its answer, its error and the log: its `X-Request-Id`, or a new id. */
  readonly requestId: string;
  /** Absent for `events`. */
  readonly trace?: TraceOrigin | undefined;
  /** Canonical key. Absent if none was given, or if it is malformed or of an unknown app. */
  readonly sessionId?: string | undefined;
  /** Path of the method of an `invoke`. Absent if there is no such method. */
  readonly method?: string | undefined;
  /** The run that a `send` began or joined, once known, or that an `abort` names. */
  runId?: string | undefined;
  /** Whether a `send` was answered by its idempotency key, once known. */
  repeated?: boolean;
}

/** A run. If it ends in the queue, it is reported as a whole at its end, with `started: false`. */
export interface RunMessage extends TraceOutcome<RunResult> {
  readonly gatewayId: string;
  readonly sessionId: string;
  /** The app that answers: of a child run, its own. */
  readonly app: string;
  /** Epoch of the conversation. Absent if the log was lost before the run began. */
  readonly epoch?: string | undefined;
  readonly runId: string;
  /** The run that began it, if it is a child run. */
  readonly parentRunId?: string;
  readonly user: UserContext | null;
  /** The trace of the send that began it. Stored with the run, for another process that resumes it. */
  readonly trace?: TraceOrigin | undefined;
  /** Id of the request that began it. Absent if a former process began the run. */
  readonly requestId?: string | undefined;
  /** False if the run ended before its app was called. */
  readonly started: boolean;
  /** Whether a former process began it. */
  readonly resumed: boolean;
  /** Milliseconds from the acceptance, or from the take-up by this process, to the start. */
  readonly queuedMs: number;
  /** Milliseconds from the start to the first text or reasoning. Present at the end, if there was any. */
  firstDeltaMs?: number;
  /** The variants that its app has asked for. Present at the end, if there were any. */
  variants?: Variants;
}

/** A call of a tool. Includes the time it waits for a person. */
export interface ToolMessage extends TraceOutcome {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Epoch of the conversation. */
  readonly epoch?: string | undefined;
  /** Absent if it belongs to no run. */
  readonly runId?: string | undefined;
  readonly callId: string;
  /** Name in the call. There may be no such tool. */
  readonly tool: string;
  readonly user: UserContext | null;
}

/** A step of a run, until its outcome is kept. Steps that ended in a former process are not reported again. */
export interface StepMessage extends TraceOutcome {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Epoch of the conversation. */
  readonly epoch: string;
  readonly runId: string;
  readonly user: UserContext | null;
  readonly step: string;
}

/** A model's answer. */
export interface ModelAnswer {
  /** Id of the answer, given by the provider. */
  readonly id?: string | undefined;
  /** The model that answered, by its own name. */
  readonly model?: string | undefined;
  /** The reasons why it stopped, in the provider's words. */
  readonly finishReasons: readonly string[];
  readonly usage?: Usage | undefined;
  /** The content: text, reasoning and calls of tools. */
  readonly content: readonly ContentBlock[];
}

/** A call of a model by one of this package's app adapters, until the end of the answer. Each attempt that the adapter sees counts. */
export interface ModelMessage extends TraceOutcome<ModelAnswer> {
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly app: string;
  /** Epoch of the conversation. */
  readonly epoch: string;
  readonly runId: string;
  readonly user: UserContext | null;
  /** The adapter that calls: `openai`, `anthropic`, `ai-sdk`, `agents` or `langgraph`. */
  readonly adapter: string;
  /** The provider, by OpenTelemetry's name: `openai`, `anthropic`, `gcp.gemini`, …; or by the library's name if OpenTelemetry has none. */
  readonly provider?: string | undefined;
  /** The requested model. Absent if only the answer names it, as with a `Model` object of the Agents SDK. */
  readonly model?: string | undefined;
  /** Address of the endpoint, as far as the adapter knows it. */
  readonly server?: { readonly address: string; readonly port?: number | undefined } | undefined;
  /** Other settings of the call, without text. */
  readonly settings: ModelSettings;
  /** Milliseconds until the first content. Present at the end, if there was any. */
  firstDeltaMs?: number;
}

/** Settings of a call, as far as given. */
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
  /** Epoch of the conversation. */
  readonly epoch: string;
  /** The run of the first event that belongs to one. */
  readonly runId?: string | undefined;
  /** Number of events. */
  readonly events: number;
  /** Bytes of the events' bodies. */
  readonly bytes: number;
}

/**
 * The reason why a connection ended. The gateway ended it: `rotate` (open for long), `drain`, `slow`, `expired`, `interrupted` (it can't be
 * served here any more, or another one replaced it), `failed` (refused, or against the protocol). `done`: the single run that it followed
 * ended. `left`: the client disconnected.
 */
export type ConnectionEndReason =
  | 'rotate'
  | 'drain'
  | 'away'
  | 'slow'
  | 'expired'
  | 'interrupted'
  | 'failed'
  | 'done'
  | 'left';

/** The end of a connection. */
export interface ConnectionEndMessage {
  readonly gatewayId: string;
  readonly connectionId: string;
  /** `sse`, `websocket`, `unix-socket`, `in-process`, `host`, or a plugin's name. */
  readonly transport: string;
  readonly user: UserContext;
  readonly reason: ConnectionEndReason;
  /** Milliseconds that it was open. */
  readonly openMs: number;
  /** Number of sessions that it followed. */
  readonly subscriptions: number;
  /** Whether it counted as a client. A stream of one run and a reader in this process do not. */
  readonly client: boolean;
}

/** The outcome of a guard's checks of one text, without the text. */
export interface GuardMessage {
  readonly gatewayId: string;
  readonly kind: GuardedPart;
  /** `failed`: a check threw or took too long; what its policy says of the text follows. */
  readonly outcome: 'pass' | 'replace' | 'end' | 'failed';
  /** Milliseconds that the checks took. */
  readonly ms: number;
  /** Absent for a message that nobody has accepted yet. */
  readonly run?: { readonly id: string; readonly app: string; readonly sessionId: string };
  readonly user: UserContext | null;
}
