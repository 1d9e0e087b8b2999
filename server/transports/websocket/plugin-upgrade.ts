import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '../../../shared/gateway-error.js';
import type { MaybePromise } from '../../async/maybe-promise.js';
import type { Identity } from '../../auth/types.js';

/** A stream of a session that is told on a socket. */
export interface SocketStream {
  /** Whether it ends with a run: the socket is not closed for a drain before that. */
  readonly ofRun: boolean;
  /** The socket's client has caught up. */
  drained(): void;
  /** The socket is gone. */
  left(): void;
}

/** A WebSocket of a plugin's client. */
export interface PluginSocket {
  readonly isOpen: boolean;
  /** Bytes that are written and that the client has not taken. */
  readonly backlog: number;
  /** Bytes that the client has taken so far. */
  readonly taken: number;
  /** Sends messages. False when the client does not keep up: then its own are not looked at until it does. */
  send(...messages: readonly string[]): boolean;
  /** Closes in order, with a close code of WebSockets (RFC 6455, section 7.4). @default 1000 */
  close(code?: number, reason?: string): void;
  /** Closes for an error, as for what a listener throws. */
  fail(error: unknown): void;
  /** Closes, since the client has not kept up for too long. */
  cut(): void;
  /** Has a stream be told on it, until what this returns is called. */
  carry(stream: SocketStream): () => void;
}

/** An upgrade to a WebSocket on a plugin's path. The gateway has checked its host and origin, and who asks. */
export interface PluginUpgrade {
  readonly request: IncomingMessage;
  /** Path below the mount, with what follows the plugin's path. */
  readonly path: string;
  /** Who opened it, by what is known now: ask for it with each message. */
  readonly identity: Identity;
  readonly socket: PluginSocket;
  /** The JSON of a message, within the gateway's bounds. @throws GatewayError `INVALID_REQUEST` */
  parse(text: string): unknown;
}

/** What hears a client on its socket. */
export interface PluginSocketListener {
  /** Called with each message, one after the other: the next one waits for what this returns. What it throws closes the socket. */
  message(text: string): MaybePromise<void>;
}

/** How sockets on a plugin's path are served. */
export interface SocketOptions {
  /** Closes a socket for an error; its text may be shown. @default with the gateway's own close codes */
  readonly fail?: (error: GatewayError, socket: PluginSocket) => void;
}

/** Where a plugin takes upgrades. */
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
