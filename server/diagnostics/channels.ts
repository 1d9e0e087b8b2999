import { channel, tracingChannel } from 'node:diagnostics_channel';
import type {
  AppendMessage,
  ConnectionEndMessage,
  ModelMessage,
  OperationMessage,
  RunMessage,
  ToolMessage,
} from './messages.js';

/** One channel of `node:diagnostics_channel`, with the type of its messages. */
export interface MessageChannel<Message> {
  readonly name: string | symbol;
  readonly hasSubscribers: boolean;
  subscribe(listener: (message: Message, name: string | symbol) => void): void;
  /** @returns Whether it had been subscribed. */
  unsubscribe(listener: (message: Message, name: string | symbol) => void): boolean;
  publish(message: Message): void;
}

/** What a subscriber of a traced channel hears; each may be left out. All of one piece of work get the same object. */
export interface TraceHandlers<Message> {
  /** It begins. */
  start?(message: Message): void;
  /** Its synchronous part is over: all of it, where `ms` is in the message. */
  end?(message: Message): void;
  /** It is over, after it went on asynchronously. */
  asyncStart?(message: Message): void;
  /** Comes right after `asyncStart`. */
  asyncEnd?(message: Message): void;
  /** It has failed; `error` is in the message. What tells that it is over comes too. */
  error?(message: Message): void;
}

/** A `TracingChannel` of `node:diagnostics_channel`, with the type of its messages. */
export interface TraceChannel<Message> {
  /** Also binds stores of `AsyncLocalStorage`, which then hold for the work. */
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
  /** @returns Whether all of them had been subscribed. */
  unsubscribe(handlers: TraceHandlers<Message>): boolean;
}

/** Where all gateways of this process tell what they do. The names are Node's: `tracing:agent-session-gateway.run:start` and so on. */
export interface Channels {
  /** An operation, whichever door it came through. */
  readonly operation: TraceChannel<OperationMessage>;
  /** A run, from its start to its end. */
  readonly run: TraceChannel<RunMessage>;
  /** A call of a tool. */
  readonly tool: TraceChannel<ToolMessage>;
  /** A call of a model by an app adapter. */
  readonly model: TraceChannel<ModelMessage>;
  /** An append to the store, each attempt on its own. */
  readonly append: TraceChannel<AppendMessage>;
  /** A connection has ended. */
  readonly connectionEnd: MessageChannel<ConnectionEndMessage>;
}

const tracing = <Message extends object>(name: string): TraceChannel<Message> =>
  tracingChannel<unknown, Message>(`agent-session-gateway.${name}`) as unknown as TraceChannel<Message>;

/**
 * The channels of this package. A subscriber that throws ends the process where nobody listens to `uncaughtException`: see
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
  model: tracing('model'),
  append: tracing('append'),
  connectionEnd: channel(
    'agent-session-gateway.connection.end',
  ) as unknown as MessageChannel<ConnectionEndMessage>,
};
