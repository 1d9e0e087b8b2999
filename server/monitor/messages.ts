/** The start data of the monitoring port's thread. */
export interface ThreadData {
  readonly port: number;
  readonly host: string;
  /** SHA-256 of each token, hex; none if reading needs no token. */
  readonly tokens: readonly string[];
  /** Time between two beats, in milliseconds. */
  readonly beatMs: number;
  readonly gatewayId: string;
  readonly version: string;
}

/** A message of the gateway to the thread. */
export type ToThread =
  /** The gateway's event loop turns. JSON texts: an error, or null while it takes work; the stats, as of some beat. */
  | {
      readonly type: 'beat';
      readonly refusal: string | null;
      readonly forMs: number;
      readonly stats?: string;
    }
  /** A page is there, at a path. */
  | { readonly type: 'page'; readonly path: string }
  /** A piece of an answer. The first has the status and the media type. */
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly status?: number;
      readonly media?: string;
      readonly text: string;
      readonly isLast: boolean;
    };

/** A message of the thread to the gateway. */
export type FromThread =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  /** Somebody asks for a page, or something of the desk: then with a body. */
  | { readonly type: 'ask'; readonly id: number; readonly path: string; readonly body?: string }
  /** The asker has gone. */
  | { readonly type: 'gone'; readonly id: number };
