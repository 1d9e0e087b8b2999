import type { ServerResponse } from 'node:http';
import type { ExtraRoutes } from '../../shared/calls.js';
import type { AppSummary, ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { HostEventsOptions, SessionHandle } from '../apps/session-handle.js';
import type { ToolHints, ToolOutput } from '../apps/tool.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Identity } from '../auth/types.js';
import type { Limits } from '../config/limits.js';
import type { Dialect, Encoded } from '../delivery/dialect.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { StoredFile } from '../files/stored-file.js';
import type { LifecycleEvent, LifecycleListener } from '../lifecycle/lifecycle.js';
import type { SentRun } from '../operations/reading.js';
import type { JsonSchema } from '../schema/schema.js';
import type { ConfirmationListener, ToolProgressListener } from '../sessions/session-calls.js';
import type { PluginRequest, RouteOptions } from '../transports/http/plugin-route.js';
import type {
  PluginSocket,
  PluginSocketListener,
  PluginUpgrade,
  SocketOptions,
} from '../transports/websocket/plugin-upgrade.js';

export type { Dialect, Encoded, SentRun };

/** A tool as other protocols list it. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  readonly title?: string;
  readonly hints?: ToolHints;
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
  /** Hears of a confirmation that the call waits for, and sees to it that a person is asked who answers with `respond`. */
  readonly asked?: ConfirmationListener;
}

/** Where a stream in another protocol begins, and who reads it. */
export interface DialectOptions extends HostEventsOptions {
  /** Answered with the stream, as Server-Sent Events; where there is none, only the last state counts. */
  readonly response?: ServerResponse;
  /** Told on this socket instead: each line of the dialect's text is a message. */
  readonly socket?: PluginSocket;
  /** Whether it goes on for as long as somebody reads, rather than to the end of a run. Then it counts as a connection, and a drain ends it. @default false */
  readonly follows?: boolean;
  /** Whether it is answered with lines of JSON instead; the dialect's text is such lines then. @default false */
  readonly lines?: boolean;
}

/** A session that is being told in another protocol. */
export interface DialectStream<State> {
  /**
   * Resolves with the state at which the dialect said that all is told; the response is still open then. Rejects with what the dialect
   * threw, or why there is no more: `ABORTED` (its reader has left, or the signal), `SHUTTING_DOWN`, `UNAUTHENTICATED`, `OVERLOADED`.
   */
  readonly over: Promise<State>;
  /** Ends the response; a socket stays open. @param text Last words. */
  finish(text?: string): void;
}

/** A session in the scope of a plugin's caller: what host code has of one, and its tools. */
export interface PluginSession extends SessionHandle {
  /**
   * Calls one of the app's tools in the caller's name, outside of any run. A failure of the tool is a result with `isError`. A tool
   * that needs confirmation asks in the session's event stream, and where `asked` puts it; it fails at once where there is neither a follower nor `asked`.
   *
   * @throws GatewayError why the call was not begun
   */
  callTool(name: string, input: unknown, options?: CallToolOptions): Promise<ToolOutput>;
  /**
   * Tells of the session in another protocol, over the gateway's own event streams: their encoding, heartbeats (comments), back-pressure
   * and bounds for slow readers, and their end with the caller's token.
   */
  stream<State>(dialect: Dialect<State>, options?: DialectOptions): DialectStream<State>;
  /** The run that was begun under an idempotency key, whatever its message was; null where none was. */
  sent(idempotencyKey: string): Promise<SentRun | null>;
  /** Closes the session and drops all that is kept of it. */
  discard(): Promise<void>;
}

/** What a plugin shares with itself at the other gateways on the same store. Names are its own: no other plugin meets them. */
export interface PluginPeers {
  /** This gateway, as the others know it. */
  readonly holder: string;
  /** Notes that all of them read; in memory where the store is this gateway's alone. Keep one before its name is told to a client, who may come to another gateway next. */
  readonly notes: PluginNotes;
  /** Does what the others ask under a name; plain values go to and fro. Asked again for the same, it is done once. */
  on<Input>(name: string, work: (input: Input) => MaybePromise<unknown>): void;
  /**
   * Has a gateway do something.
   *
   * @param options.waitMs How long to wait for one that lives. @default 15_000
   * @returns What came of it; undefined where that gateway is gone
   * @throws GatewayError what it said; `OVERLOADED` where it did not answer in time
   */
  ask(holder: string, name: string, input: unknown, options?: { readonly waitMs?: number }): Promise<unknown>;
  /** Has all others do something. Never rejects for what one of them says. @returns What came of it at those that did it */
  askAll(name: string, input: unknown): Promise<readonly unknown[]>;
}

/** Small texts by name, which all gateways on a store read. Each may reject with `OVERLOADED`. */
export interface PluginNotes {
  /**
   * @param options.ttlMs It is forgotten after so many milliseconds
   * @param options.once It is kept only where there is none of this name. @default false: it is replaced
   * @returns Whether it was kept. It can be read by all once this is there
   */
  put(
    name: string,
    value: string,
    options: { readonly ttlMs: number; readonly once?: boolean },
  ): Promise<boolean>;
  /** A note, or null where there is none. */
  get(name: string): Promise<string | null>;
  /** Forgets a note. */
  drop(name: string): Promise<void>;
}

/** All that a plugin sees of its gateway. */
export interface PluginContext {
  readonly gatewayId: string;
  /** Itself at the other gateways on the same store: at none where the store is this gateway's alone. */
  readonly peers: PluginPeers;
  /** Prefix of the routes beyond the specification's; false where they are not served. */
  readonly extraRoutes: ExtraRoutes;
  /** The gateway's limits that concern open responses, and what a host decides by, in milliseconds. */
  readonly limits: Pick<Limits, 'guardMs' | 'heartbeatMs' | 'slowClientMs'>;
  /** Serves a path and everything below it, or with `/` the mount itself and nothing below. @throws GatewayError `INVALID_REQUEST` when the path is taken */
  route(path: string, handle: (request: PluginRequest) => MaybePromise<void>, options?: RouteOptions): void;
  /**
   * Takes upgrades to WebSockets at a path and everything below it. Whoever opens one is authenticated first, and the socket is a
   * connection of the gateway's like any other.
   *
   * @param accept Begins to serve a socket; what it throws closes that
   * @throws GatewayError `INVALID_REQUEST` when the path is taken
   */
  socket(
    path: string,
    accept: (upgrade: PluginUpgrade) => MaybePromise<PluginSocketListener>,
    options?: SocketOptions,
  ): void;
  /** All apps. */
  apps(): readonly AppSummary[];
  /** The apps that a caller may use, as the operation `apps` lists them. */
  appsOf(identity: Identity): MaybePromise<readonly AppSummary[]>;
  /** A page of a caller's sessions, as the operation `sessions` lists them. @throws GatewayError */
  sessions(identity: Identity, params?: ParamsOf<'sessions'>): Promise<ResultOf<'sessions'>>;
  /** The tools of the app that a session key names. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND` */
  tools(sessionId: string): readonly ToolDescription[];
  /**
   * A session in a caller's scope. Its operations are authorized and bounded like those of any client.
   *
   * @throws GatewayError `INVALID_REQUEST` for a malformed key, `APP_NOT_FOUND`
   */
  session(sessionId: string, identity: Identity): PluginSession;
  /** A file of a caller's scope. @throws GatewayError `FILE_NOT_FOUND`, also for one that the caller may not see */
  file(fileId: string, identity: Identity): Promise<StoredFile>;
  /** Listens to what happens; call what it returns to stop. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void;
  /** What the gateway has on its hands now, for metrics. */
  stats(): GatewayStats;
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
  /** Called when the gateway begins to close, before runs are given time to finish. What it promises has that time too. */
  drain?(): MaybePromise<void>;
  /** Called when the gateway closes. */
  destroy?(): MaybePromise<void>;
}
