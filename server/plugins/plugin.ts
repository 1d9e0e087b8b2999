import type { ServerResponse } from 'node:http';
import type { ExtraRoutes } from '../../shared/calls.js';
import type { RunWebhook, RunWebhookChange } from '../../shared/notices/contract.js';
import type { WebhookShape } from '../../shared/notices/options.js';
import type { AppSummary, ParamsOf, ResultOf } from '../../shared/operation-types.js';
import type { HostEventsOptions, SessionHandle } from '../apps/session-handle.js';
import type { ToolHints, ToolOutput } from '../apps/tool.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Person } from '../auth/types.js';
import type { Limits } from '../config/limits.js';
import type { Dialect, Encoded } from '../delivery/dialect.js';
import type { GatewayStats } from '../diagnostics/gateway-stats.js';
import type { StoredFile } from '../files/stored-file.js';
import type { LifecycleEvent, LifecycleListener } from '../lifecycle/lifecycle.js';
import type { SentRun } from '../operations/read-operations.js';
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
  /** JSON Schema of the input; absent if the tool declares none, or one that cannot be written as JSON Schema. */
  readonly inputSchema?: JsonSchema;
  /** The reason why a declared schema is missing. */
  readonly problem?: string;
}

/** Options of a tool call. */
export interface CallToolOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** Receives the tool's progress. */
  readonly progress?: ToolProgressListener;
  /** Receives a confirmation that the call waits for, and must have a person asked who answers with `respond`. */
  readonly asked?: ConfirmationListener;
}

/** A tool call that began as a run. */
export interface BegunToolCall extends SentRun {
  /** Whether an earlier call with the same key began it. */
  readonly repeated: boolean;
}

/** The start of a stream in another protocol, and its reader. */
export interface DialectOptions extends HostEventsOptions {
  /** The response that carries the stream, as Server-Sent Events. Without one, only the last state counts. */
  readonly response?: ServerResponse;
  /** A socket that carries the stream instead. Each line of the dialect's text is a message. */
  readonly socket?: PluginSocket;
  /**
   * Whether it goes on for as long as somebody reads, rather than to the end of a run. It then counts as a connection, and a drain ends it.
   * @default false
   */
  readonly follows?: boolean;
  /** Whether the response has lines of JSON instead, which the dialect's text must then be. @default false */
  readonly lines?: boolean;
}

/** A session that is being told in another protocol. */
export interface DialectStream<State> {
  /**
   * Resolves with the state at which the dialect reported that everything was told; the response is still open then. Rejects with the
   * dialect's error, or the reason for the end: `ABORTED` (its reader has left, or the signal), `SHUTTING_DOWN`, `UNAUTHENTICATED`,
   * `OVERLOADED`.
   */
  readonly over: Promise<State>;
  /** Ends the response; a socket stays open. @param text Last words. */
  finish(text?: string): void;
}

/** A session in the scope of a plugin's caller: the session that host code has, and its tools. */
export interface PluginSession extends SessionHandle {
  /**
   * Calls one of the app's tools in the caller's name, outside of any run. A failure of the tool is a result with `isError`. A tool that
   * needs confirmation asks in the session's event stream and by `asked`. It fails at once if there is neither a subscriber nor `asked`.
   *
   * @throws GatewayError the reason why the call was not begun
   */
  callTool(name: string, input: unknown, options?: CallToolOptions): Promise<ToolOutput>;
  /**
   * Calls one of the app's tools in a run of its own beside the conversation, which outlives its caller: its log has the call and its result.
   *
   * @param options `key`: a repeated call with the same key is the same run. `metadata`: of the run
   * @throws GatewayError the reason why the call was not begun
   */
  beginCall(
    name: string,
    input: unknown,
    options?: { readonly key?: string | undefined; readonly metadata?: Readonly<Record<string, unknown>> },
  ): Promise<BegunToolCall>;
  /**
   * Tells the session in another protocol, over the gateway's own event streams: with their encoding, heartbeats (comments), back-pressure,
   * limits for slow readers, and end with the caller's token.
   */
  stream<State>(dialect: Dialect<State>, options?: DialectOptions): DialectStream<State>;
  /** The run that was begun under an idempotency key, whatever its message; null if there is none. */
  sent(idempotencyKey: string): Promise<SentRun | null>;
  /**
   * The caller's webhooks of a run, after one was added or removed. One that is added late is told what has happened already.
   *
   * @throws GatewayError `RUN_NOT_FOUND`, `QUOTA_EXCEEDED` naming `limits.runWebhooks`, `INVALID_PARAMS`
   */
  runWebhooks(runId: string, change?: RunWebhookChange): Promise<readonly RunWebhook[]>;
  /** Closes the session and drops all its data. */
  discard(): Promise<void>;
}

/** A plugin's link to itself at the other gateways on the same store. Names belong to the plugin and never meet those of another one. */
export interface PluginPeers {
  /** This gateway's name among the others. */
  readonly holder: string;
  /**
   * Notes that all these gateways read, also after a restart if the store outlives it. Store a note before its name is sent to a client, whose
   * next request may reach another gateway.
   */
  readonly notes: PluginNotes;
  /** Serves requests of the others under a name. Input and result are plain values. A repeated request is done once. */
  on<Input>(name: string, work: (input: Input) => MaybePromise<unknown>): void;
  /**
   * Has a gateway do work.
   *
   * @param options.waitMs Milliseconds to wait for a living gateway. @default 15_000
   * @returns The result; undefined if that gateway is gone
   * @throws GatewayError the other gateway's error; `OVERLOADED` if it did not answer in time
   */
  ask(holder: string, name: string, input: unknown, options?: { readonly waitMs?: number }): Promise<unknown>;
  /** Has all others do work. Errors of single gateways do not reject. @returns The results of the gateways that did it */
  askAll(name: string, input: unknown): Promise<readonly unknown[]>;
}

/** Small texts by name, which all gateways on a store read. Each call may reject with `OVERLOADED`. */
export interface PluginNotes {
  /**
   * @param options.ttlMs Milliseconds until it is forgotten
   * @param options.once Keep it only if there is none of this name. @default false: it replaces another
   * @returns Whether it was kept. All gateways can read it from then on
   */
  put(
    name: string,
    value: string,
    options: { readonly ttlMs: number; readonly once?: boolean },
  ): Promise<boolean>;
  /** A note, or null if there is none. */
  get(name: string): Promise<string | null>;
  /** Forgets a note. */
  drop(name: string): Promise<void>;
}

/** Makes a page of text for the monitoring port, with its media type. */
export type MonitorPageMaker = () => Promise<{ readonly media: string; readonly text: string }>;

/** The part of a gateway that a plugin sees. */
export interface PluginContext {
  readonly gatewayId: string;
  /** The plugin at the other gateways on the same store; there are none if the store is this gateway's alone. */
  readonly peers: PluginPeers;
  /** Prefix of the routes beyond the specification's; false if they are not served. */
  readonly extraRoutes: ExtraRoutes;
  /** The gateway's limits on open responses and on decisions of the host, in milliseconds. */
  readonly limits: Pick<Limits, 'guardMs' | 'heartbeatMs' | 'slowClientMs'>;
  /** Whether the gateway has a monitoring port. */
  readonly monitored: boolean;
  /** Serves a page of text on the monitoring port, if there is one. Its thread asks for it, and gives the last one while the gateway is late. */
  page(path: string, make: MonitorPageMaker): void;
  /** Serves a path and everything below it, or with `/` only the mount itself. @throws GatewayError `INVALID_REQUEST` when the path is taken */
  route(path: string, handle: (request: PluginRequest) => MaybePromise<void>, options?: RouteOptions): void;
  /**
   * Takes upgrades to WebSockets at a path and everything below it. The caller is authenticated first, and the socket counts as a
   * connection of the gateway.
   *
   * @param accept Begins to serve a socket. If it throws, the socket is closed
   * @throws GatewayError `INVALID_REQUEST` when the path is taken
   */
  socket(
    path: string,
    accept: (upgrade: PluginUpgrade) => MaybePromise<PluginSocketListener>,
    options?: SocketOptions,
  ): void;
  /**
   * Has callers' own addresses told as their runs ask and end, in this plugin's form: see `PluginSession.runWebhooks`.
   *
   * @param shape Makes a request of a notice
   * @returns The check of an address, which throws `INVALID_PARAMS` naming the field; null if the host allows none (`notify.runWebhooks`)
   */
  runWebhooks(shape: WebhookShape): ((webhook: RunWebhook) => void) | null;
  /** All apps. */
  apps(): readonly AppSummary[];
  /** The apps that a caller may use, as the operation `apps` lists them. */
  appsOf(person: Person): MaybePromise<readonly AppSummary[]>;
  /** A page of a caller's sessions, as the operation `sessions` lists them. @throws GatewayError */
  sessions(person: Person, params?: ParamsOf<'sessions'>): Promise<ResultOf<'sessions'>>;
  /** The tools of the app that a session key names. @throws GatewayError `INVALID_REQUEST`, `APP_NOT_FOUND` */
  tools(sessionId: string): readonly ToolDescription[];
  /**
   * A session in a caller's scope. Its operations are authorized and bounded like those of any client.
   *
   * @throws GatewayError `INVALID_REQUEST` for a malformed key, `APP_NOT_FOUND`
   */
  session(sessionId: string, person: Person): PluginSession;
  /**
   * Tells which sessions nobody chose: the plugin made their names for single requests. The idle one of them that is
   * unused for longest is dropped where a user may have no more sessions.
   */
  spares(isSpare: (sessionId: string) => boolean): void;
  /** A file of a caller's scope. @throws GatewayError `FILE_NOT_FOUND`, also for one that the caller may not see */
  file(fileId: string, person: Person): Promise<StoredFile>;
  /** Listens to events of the gateway. Returns a function that stops it. */
  on<E extends LifecycleEvent>(event: E, listener: LifecycleListener<E>): () => void;
  /** The gateway's current statistics, for metrics. */
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
  /** Called when the gateway begins to close, before runs get time to finish. Its promise gets the same time. */
  drain?(): MaybePromise<void>;
  /** Called when the gateway closes. */
  destroy?(): MaybePromise<void>;
}
