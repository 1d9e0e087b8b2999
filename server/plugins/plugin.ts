import type { ServerResponse } from 'node:http';
import type { AppSummary } from '../../shared/operation-types.js';
import type { HostEventsOptions, SessionHandle } from '../apps/session-handle.js';
import type { ToolOutput } from '../apps/tool.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Identity } from '../auth/types.js';
import type { Limits } from '../config/limits.js';
import type { Dialect, Encoded } from '../delivery/dialect.js';
import type { LifecycleEvent, LifecycleListener } from '../lifecycle/lifecycle.js';
import type { JsonSchema } from '../schema/schema.js';
import type { ToolProgressListener } from '../sessions/session-calls.js';

import type { PluginRequest, RouteOptions } from '../transports/http/plugin-route.js';

export type { Dialect, Encoded };

/** A tool as other protocols list it. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input; absent where the tool declares none, or one that cannot be written as JSON Schema. */
  readonly inputSchema?: JsonSchema;
  /** Why the declared schema is missing. */
  readonly problem?: string;
}

/** Options of a tool call. */
export interface CallToolOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** Hears what the tool reports. */
  readonly progress?: ToolProgressListener;
}

/** Where a stream in another protocol begins, and who reads it. */
export interface DialectOptions extends HostEventsOptions {
  /** Answered with the stream, as Server-Sent Events; where there is none, only the last state counts. */
  readonly response?: ServerResponse;
}

/** A session that is being told in another protocol. */
export interface DialectStream<State> {
  /**
   * Resolves with the state at which the dialect said that all is told; the response is still open then. Rejects with what the dialect
   * threw, or why there is no more: `ABORTED` (its reader has left, or the signal), `SHUTTING_DOWN`, `UNAUTHENTICATED`, `OVERLOADED`.
   */
  readonly over: Promise<State>;
  /** Ends the response. @param text Last words. */
  finish(text?: string): void;
}

/** A session in the scope of a plugin's caller: what host code has of one, and its tools. */
export interface PluginSession extends SessionHandle {
  /**
   * Calls one of the app's tools in the caller's name, outside of any run. A failure of the tool is a result with `isError`. A tool
   * that needs confirmation asks in the session's event stream, and fails at once where nobody follows it.
   *
   * @throws GatewayError why the call was not begun
   */
  callTool(name: string, input: unknown, options?: CallToolOptions): Promise<ToolOutput>;
  /**
   * Tells of the session in another protocol, over the gateway's own event streams: their encoding, heartbeats (comments), back-pressure
   * and bounds for slow readers, and their end with the caller's token.
   */
  stream<State>(dialect: Dialect<State>, options?: DialectOptions): DialectStream<State>;
  /** Closes the session and drops all that is kept of it. */
  discard(): Promise<void>;
}

/** All that a plugin sees of its gateway. */
export interface PluginContext {
  readonly gatewayId: string;
  /** The gateway's limits that concern open responses, in milliseconds. */
  readonly limits: Pick<Limits, 'heartbeatMs' | 'slowClientMs'>;
  /** Serves a path and everything below it. @throws GatewayError `INVALID_REQUEST` when the path is taken */
  route(path: string, handle: (request: PluginRequest) => MaybePromise<void>, options?: RouteOptions): void;
  /** All apps. */
  apps(): readonly AppSummary[];
  /** The apps that a caller may use, as the operation `apps` lists them. */
  appsOf(identity: Identity): MaybePromise<readonly AppSummary[]>;
  /** The tools of the app that a session key names. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND` */
  tools(sessionId: string): readonly ToolDescription[];
  /**
   * A session in a caller's scope. Its operations are authorized and bounded like those of any client.
   *
   * @throws GatewayError `INVALID_REQUEST` for a malformed key, `APP_NOT_FOUND`
   */
  session(sessionId: string, identity: Identity): PluginSession;
  /** Listens to what happens; call what it returns to stop. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void;
  /** Logs an error for the gateway's operators. */
  report(error: unknown, what: string): void;
}

/** An extension of a gateway. */
export interface GatewayPlugin {
  readonly name: string;
  /** Called once, by `use`. */
  setup(context: PluginContext): void;
  /** Called when the gateway has started. */
  start?(): MaybePromise<void>;
  /** Called when the gateway begins to close, before runs are given time to finish. */
  drain?(): void;
  /** Called when the gateway closes. */
  destroy?(): MaybePromise<void>;
}
