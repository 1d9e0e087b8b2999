import { GatewayError } from '../../shared/errors.js';
import type { EventOf, GatewayEvent } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { Sink } from './connection.js';
import type { EndReason } from './end-reason.js';

/** The result of a dialect's call. */
export interface Encoded<State> {
  /** State for the next call. */
  readonly state: State;
  /** Text to write unchanged; empty for none. */
  readonly text: string;
  /** Whether the dialect has told everything. */
  readonly over?: boolean;
}

/**
 * Translates a session's events for clients of another protocol. Its calls are synchronous and in order; an error in one ends the stream. A
 * client that comes back starts anew at its place, from a cursor or a fold.
 */
export interface Dialect<State> {
  /**
   * Called first, and again with each snapshot.
   *
   * @param session The state at which the stream begins: of a snapshot the folded state, including the answer that is being written; empty
   * for a stream that begins at a cursor.
   */
  begin(session: SessionState): Encoded<State>;
  /**
   * Called with the events that came together, including `gap` and `auth_expired`. Called without events after a snapshot that none follow.
   *
   * @param at `isHead` tells whether the session has no more events. Events of one append come together.
   */
  encode(state: State, events: readonly GatewayEvent[], at: { readonly isHead: boolean }): Encoded<State>;
}

/** The receiver of a dialect's text. */
export interface TextSink {
  /** Returns false if the receiver lags behind. Nothing more is written until it has caught up. */
  write(text: string): boolean;
  /** Writes bytes that the client's protocol ignores, as a sign of life. */
  beat(): boolean;
  sent(): number;
  /** Bytes that are written and not yet taken. */
  unread(): number;
  /** Called when the receiver has lagged behind for too long. */
  cut(): void;
}

/** A sink without a receiver, for callers that only need the last state. */
export const NOWHERE: TextSink = {
  write: () => true,
  beat: () => true,
  sent: () => 0,
  unread: () => 0,
  cut: () => {},
};

/** Events that other protocols have no counterpart for. */
const SILENT: ReadonlySet<string> = new Set(['connected', 'subscribed', 'hidden']);

/** A connection's sink that writes a dialect. */
export class DialectSink<State> implements Sink {
  readonly #dialect: Dialect<State>;
  readonly #out: TextSink;
  readonly #isHead: () => boolean;
  #now: Encoded<State> | null = null;
  #beats = 0;
  #isOver = false;
  #resolve!: (state: State) => void;
  #reject!: (error: unknown) => void;
  /** Resolves with the state at which the dialect has told everything. Rejects with a GatewayError, or the error that the dialect threw. */
  readonly over: Promise<State>;

  /** @param isHead Whether every event of the session was written. */
  constructor(dialect: Dialect<State>, out: TextSink, isHead: () => boolean) {
    this.#dialect = dialect;
    this.#out = out;
    this.#isHead = isHead;
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.over.catch(() => {});
  }

  /** Begins from an empty state, before the first event. */
  begin(): void {
    this.#guarded(() => this.#begin(initialState));
  }

  write(payload: unknown): boolean {
    return this.#guarded(() => this.#take(payload as readonly GatewayEvent[]));
  }

  sent(): number {
    return this.#out.sent();
  }

  unread(): number {
    return this.#out.unread();
  }

  end(reason: EndReason): void {
    if (reason === 'slow') this.#out.cut();
    this.fail(endError(reason));
  }

  /** Ends the stream with an error. */
  fail(error: unknown): void {
    this.#isOver = true;
    this.#reject(error);
  }

  #guarded(work: () => boolean): boolean {
    if (this.#isOver) return true;
    try {
      return work();
    } catch (error) {
      this.fail(error);
      return true;
    }
  }

  #take(events: readonly GatewayEvent[]): boolean {
    let writable = true;
    let ready: GatewayEvent[] = [];
    let begun = false;
    const flush = (isHead: boolean): void => {
      if (ready.length === 0 && !begun) return;
      begun = false;
      if (!this.#now) writable = this.#begin(initialState) && writable;
      const encoded = this.#dialect.encode(this.#now!.state, ready, { isHead });
      ready = [];
      writable = this.#say(encoded) && writable;
    };
    for (const event of events) {
      if (event.type === 'snapshot') {
        flush(false);
        writable = this.#begin((event as EventOf<'snapshot'>).state) && writable;
        begun = true;
      } else if (event.type === 'heartbeat') {
        this.#beats += 1;
        // Skip the first beat: it comes at once, when there is no silence to break.
        if (this.#beats > 1) writable = this.#out.beat() && writable;
      } else if (!SILENT.has(event.type)) ready.push(event);
    }
    if (!this.#isOver) flush(this.#isHead());
    return writable;
  }

  #begin(session: SessionState): boolean {
    return this.#say(this.#dialect.begin(session));
  }

  #say(encoded: Encoded<State>): boolean {
    this.#now = encoded;
    const writable = encoded.text === '' || this.#out.write(encoded.text);
    if (encoded.over) {
      this.#isOver = true;
      this.#resolve(encoded.state);
    }
    return writable;
  }
}

function endError(reason: EndReason): GatewayError {
  if (reason === 'drain' || reason === 'away') return new GatewayError({ code: 'SHUTTING_DOWN' });
  if (reason === 'expired')
    return new GatewayError({ code: 'UNAUTHENTICATED', message: 'The credentials have expired' });
  const message = reason === 'slow' ? 'The stream was read too slowly' : 'The stream was cut off';
  return new GatewayError({ code: 'OVERLOADED', message });
}
