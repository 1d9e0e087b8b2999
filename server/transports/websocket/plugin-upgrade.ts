import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '../../../shared/gateway-error.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Person } from '../../auth/types.js';

/** A stream of a session's events that a socket carries. */
export interface SocketStream {
  /** Whether the stream ends with a run. A drain does not close the socket before that. */
  readonly ofRun: boolean;
  /** The socket's client has caught up. */
  drained(): void;
  /** The socket is gone. */
  left(): void;
}

/** A WebSocket of a plugin's client. */
export interface PluginSocket {
  readonly isOpen: boolean;
  /** Bytes that are written and not taken by the client. */
  readonly backlog: number;
  /** Bytes that the client has taken so far. */
  readonly taken: number;
  /** Sends messages. False when the client does not keep up; its own messages then wait until it does. */
  send(...messages: readonly string[]): boolean;
  /** Resolves when the client has taken everything that was sent, and what it had said until then has come; also when it is gone. */
  roundTrip(): Promise<void>;
  /** Closes in order, with a close code of WebSockets (RFC 6455, section 7.4). @default 1000 */
  close(code?: number, reason?: string): void;
  /** Closes the socket for an error, like one that a listener throws. */
  fail(error: unknown): void;
  /** Closes the socket of a client that has not kept up for too long. */
  cut(): void;
  /** Registers a stream that the socket carries. Call the returned function when the stream ends. */
  carry(stream: SocketStream): () => void;
}

/** An upgrade to a WebSocket on a plugin's path. The gateway has checked its host and origin, and authenticated the caller. */
export interface PluginUpgrade {
  readonly request: IncomingMessage;
  /** Path below the gateway's mount, including anything behind the plugin's path. */
  readonly path: string;
  /** The caller's present identity, which can change: read it anew for each message. */
  readonly person: Person;
  readonly socket: PluginSocket;
  /** The JSON of a message, within the gateway's bounds. @throws GatewayError `INVALID_REQUEST` */
  parse(text: string): unknown;
}

/** The receiver of a client's messages on a plugin's socket. */
export interface PluginSocketListener {
  /** Called with each message in turn. The next message waits for the returned promise. An error closes the socket. */
  message(text: string): MaybePromise<void>;
}

/** How sockets on a plugin's path are served. */
export interface SocketOptions {
  /** Closes a socket for an error; its text may be shown. @default with the gateway's own close codes */
  readonly fail?: (error: GatewayError, socket: PluginSocket) => void;
}

/** A path on which a plugin takes upgrades. */
export interface PluginSocketRoute {
  /** Name of the plugin. */
  readonly transport: string;
  readonly accept: (upgrade: PluginUpgrade) => MaybePromise<PluginSocketListener>;
  readonly options: SocketOptions;
}

/** The paths where plugins take upgrades. */
export interface PluginSocketRoutes {
  /** The route of a path or of the nearest path above it. */
  findSocket(path: string): PluginSocketRoute | undefined;
}
