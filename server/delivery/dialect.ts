import { GatewayError } from '../../shared/errors.js';
import type { EventOf, GatewayEvent } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { Sink } from './connection.js';
import type { EndReason } from './end-reason.js';

/** What a dialect makes of events. */
export interface Encoded<State> {
  /** What the next call is given. */
  readonly state: State;
  /** What is written, as it is; the empty text for nothing. */
  readonly text: string;
  /** Whether this is all that is to be told. */
  readonly over?: boolean;
}

/**
 * How another protocol tells of a session. Its calls are made in order and at once; what they throw ends the stream. Whoever comes back
 * begins anew where it was: by its cursor, or by the fold.
 */
export interface Dialect<State> {
  /**
   * Called first, and again with each snapshot.
   *
   * @param session The session as it is where the stream begins: of a snapshot the folded state with the answer that is being written,
   * empty for a stream that begins at a cursor.
   */
  begin(session: SessionState): Encoded<State>;
  /**
   * Called with the events that came together: `gap` and `auth_expired` too. With none behind a snapshot that none follow.
   *
   * @param at `isHead` tells whether they are the last that the session has. What was appended together also comes together.
   */
  encode(state: State, events: readonly GatewayEvent[], at: { readonly isHead: boolean }): Encoded<State>;
}

/** Where the text of a dialect goes. */
export interface TextSink {
  /** False when the receiver does not keep up: nothing more is written until it has caught up. */
  write(text: string): boolean;
  /** Writes what its protocol passes over, as a sign of life. */
  beat(): boolean;
  sent(): number;
  /** Bytes that are written and that the receiver has not taken. */
  unread(): number;
  /** The receiver has not kept up for too long. */
  cut(): void;
}

/** Nobody listens: what counts is the last state. */
export const NOWHERE: TextSink = {
  write: () => true,
  beat: () => true,
  sent: () => 0,
  unread: () => 0,
  cut: () => {},
};

/** What other protocols have no word for. */
const SILENT: ReadonlySet<string> = new Set(['connected', 'subscribed', 'hidden']);

/** A connection's sink that speaks a dialect. */
export class DialectSink<State> implements Sink {
  readonly #dialect: Dialect<State>;
  readonly #out: TextSink;
  readonly #isHead: () => boolean;
  #now: Encoded<State> | null = null;
  #beats = 0;
  #isOver = false;
  #resolve!: (state: State) => void;
  #reject!: (error: unknown) => void;
  /** Resolves with the state at which the dialect said that all is told. Rejects with a GatewayError, or with what the dialect threw. */
  readonly over: Promise<State>;

  /** @param isHead Whether everything there is was written. */
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

  /** Begins with nothing known, before any event has come. */
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

  /** Nothing more is told. */
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
        // The first comes at once, when there is no silence to break.
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
  if (reason === 'drain') return new GatewayError({ code: 'SHUTTING_DOWN' });
  if (reason === 'expired')
    return new GatewayError({ code: 'UNAUTHENTICATED', message: 'The credentials have expired' });
  const message = reason === 'slow' ? 'The stream was read too slowly' : 'The stream was cut off';
  return new GatewayError({ code: 'OVERLOADED', message });
}
