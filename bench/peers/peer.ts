import type { Appends } from './appending.js';
import type { Delta } from './application.js';

/** How one client connects and asks, as bytes, each character being one. */
export interface Script {
  /** What is sent when it connects, and the text that is waited for then. */
  readonly stages?: readonly (readonly [send: string, until: string])[];
  /** What is sent for one request. */
  readonly request?: string;
}

/** A way in that a peer may have. Each makes the script of client number `n`. */
export interface Doors {
  /** Subscribes to the events of a session. */
  sse?(session: string, n: number): Script;
  ws?(session: string, n: number): Script;
  unix?(session: string, n: number): Script;
  /** Sends a message (see `reply` in application.ts) to session `r<n>` and reads the run as a stream. */
  send?(message: string, n: number): Script;
  /** The same over a WebSocket. */
  sendWs?(message: string, n: number): Script;
  /** Sends a message to session `r<n>` and waits until it is accepted. */
  accept?(message: string, n: number): Script;
  /** Calls `tasks:create`. */
  invoke?(): Script;
  invokeWs?(): Script;
  /** Reads all events of session `s0`, which `store` made. */
  replay?(): Script;
}

export type Door = keyof Doors;

/** A door that delivers what is emitted to a session. */
export type EventDoor = 'sse' | 'ws' | 'unix';

export interface StartOptions {
  readonly port: number;
  readonly socketPath: string;
  /** What follows the colon of a peer's name, or an empty text. */
  readonly variant: string;
}

/** What a server that runs can be told in its own process. */
export interface Served {
  /** Has the application produce an event of a session. */
  emit?(session: string, event: Delta): void;
  /** Stores so many events in session `s0`. */
  store?(events: number): Promise<void> | void;
  /** Makes so many sessions that nobody looks at. */
  idle?(sessions: number): Promise<void>;
  /** Sends this message in the process to so many of the sessions that `send` uses, and waits for the ends. */
  age?(sessions: number, message: string): Promise<void>;
  /** Appends to its store, past the gateway. Resolves with how long that took, in microseconds. */
  append?(appends: Appends): Promise<number>;
  close?(): Promise<void> | void;
}

export interface Peer {
  readonly doors: Doors;
  /** How often the answer of a send says each delta: once, unless its end repeats the whole answer. */
  readonly saysDeltas?: number;
  start(options: StartOptions): Promise<Served>;
}
