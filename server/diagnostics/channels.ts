import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { AuditEntry } from './audit-entry.js';
import type {
  AppendMessage,
  ConnectionEndMessage,
  GuardMessage,
  ModelMessage,
  OperationMessage,
  RunMessage,
  StepMessage,
  ToolMessage,
} from './messages.js';

/** One channel of `node:diagnostics_channel`, with the type of its messages. */
export interface MessageChannel<Message> {
  readonly name: string | symbol;
  readonly hasSubscribers: boolean;
  subscribe(listener: (message: Message, name: string | symbol) => void): void;
  /** @returns Whether the listener was subscribed. */
  unsubscribe(listener: (message: Message, name: string | symbol) => void): boolean;
  publish(message: Message): void;
}

/** Handlers for a traced channel; all are optional. Each piece of work passes the same object to all of them. */
export interface TraceHandlers<Message> {
  /** The work begins. */
  start?(message: Message): void;
  /** The synchronous part is over. If `ms` is in the message, so is the whole work. */
  end?(message: Message): void;
  /** Asynchronous work is over. */
  asyncStart?(message: Message): void;
  /** Called right after `asyncStart`. */
  asyncEnd?(message: Message): void;
  /** The work has failed; `error` is in the message. The call that reports the end follows. */
  error?(message: Message): void;
}

/** A `TracingChannel` of `node:diagnostics_channel`, with the type of its messages. */
export interface TraceChannel<Message> {
  /** Can also bind stores of `AsyncLocalStorage`, which then apply during the work. */
  readonly start: MessageChannel<Message> & {
    bindStore<Store>(
      store: { run<R>(value: Store, work: () => R): R },
      transform?: (message: Message) => Store,
    ): void;
    unbindStore(store: object): boolean;
  };
  readonly end: MessageChannel<Message>;
  readonly asyncStart: MessageChannel<Message>;
  readonly asyncEnd: MessageChannel<Message>;
  readonly error: MessageChannel<Message>;
  readonly hasSubscribers: boolean;
  subscribe(handlers: TraceHandlers<Message>): void;
  /** @returns Whether all handlers were subscribed. */
  unsubscribe(handlers: TraceHandlers<Message>): boolean;
}

/** The channels to which all gateways of this process report. The names are Node's: `tracing:agent-session-gateway.run:start` and so on. */
export interface Channels {
  /** An operation, through any door. */
  readonly operation: TraceChannel<OperationMessage>;
  /** A run, from its start to its end. */
  readonly run: TraceChannel<RunMessage>;
  /** A call of a tool. */
  readonly tool: TraceChannel<ToolMessage>;
  /** A step of a run. */
  readonly step: TraceChannel<StepMessage>;
  /** A call of a model by an app adapter. */
  readonly model: TraceChannel<ModelMessage>;
  /** An append to the store. Each attempt counts. */
  readonly append: TraceChannel<AppendMessage>;
  /** The end of a connection. */
  readonly connectionEnd: MessageChannel<ConnectionEndMessage>;
  /** An act that is not an ordinary message. */
  readonly audit: MessageChannel<AuditEntry>;
  /** The verdict of a guard on one text. */
  readonly guard: MessageChannel<GuardMessage>;
}

const tracing = <Message extends object>(name: string): TraceChannel<Message> =>
  tracingChannel<unknown, Message>(`agent-session-gateway.${name}`) as unknown as TraceChannel<Message>;

/**
 * The channels of this package. A subscriber that throws ends the process, unless there is a listener for `uncaughtException`: see
 * docs/observability.md.
 *
 * @example
 * ```ts
 * channels.run.subscribe({
 *   asyncEnd: ({ app, runId, result, error }) => console.log(app, runId, result?.stopReason, error),
 * });
 * ```
 */
export const channels: Channels = {
  operation: tracing('operation'),
  run: tracing('run'),
  tool: tracing('tool'),
  step: tracing('step'),
  model: tracing('model'),
  append: tracing('append'),
  connectionEnd: channel(
    'agent-session-gateway.connection.end',
  ) as unknown as MessageChannel<ConnectionEndMessage>,
  audit: channel('agent-session-gateway.audit') as unknown as MessageChannel<AuditEntry>,
  guard: channel('agent-session-gateway.guard') as unknown as MessageChannel<GuardMessage>,
};
