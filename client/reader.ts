import { parseCursor } from '../shared/cursor.js';
import type { GatewayError } from '../shared/errors.js';
import type { GatewayEvent } from '../shared/events.js';
import type { From, SubscribeTarget } from '../shared/operation-types.js';

/** A place in a session's log. Without a cursor it can be recognised, but not asked for; `epoch` is null before the first event. */
export interface Place {
  readonly epoch: string | null;
  readonly seq: number;
  readonly cursor?: string;
}

/** The place before a session's first event. */
export const NOWHERE: Place = { epoch: null, seq: 0 };

/** Reads a cursor; undefined when there is none or it is not ours. */
export function placeOf(cursor: string | undefined): Place | undefined {
  const place = cursor === undefined ? null : parseCursor(cursor);
  return place ? { epoch: place.epoch, seq: place.seq, cursor: cursor! } : undefined;
}

/** Where a reader starts: a word of the protocol or a cursor. */
export type Start = From | (string & {});

/** What a reader feeds. */
export interface Sink {
  /** Takes events that belong together, or none of them: false when there is no room. */
  take(events: readonly GatewayEvent[]): boolean;
  /** No more events will come. Without an error the client let go. */
  end(error?: GatewayError): void;
}

/** One consumer's place in a session: it takes each event once, whatever the wire repeats for others. */
export class Reader {
  readonly sessionId: string;
  readonly sink: Sink;
  /** Takes what the wire brings. Otherwise it waits for a subscription of its own, unless it is `full`. */
  ready = false;
  full = false;
  /** The next snapshot is meant for this reader, wherever it leads. */
  awaitsSnapshot = false;
  /** Everything up to here was taken. */
  at: Place | undefined;
  #start: Start;
  /** Set by the feed: asks again for a reader that has room. */
  wake: () => void = () => {};

  constructor(sessionId: string, start: Start, sink: Sink) {
    this.sessionId = sessionId;
    this.#start = start;
    this.sink = sink;
    this.at = placeOf(start);
  }

  get waits(): boolean {
    return !this.ready && !this.full;
  }

  /** What to subscribe to. A place without a cursor is found again from the start of the log. */
  get target(): SubscribeTarget {
    const start = this.at ? (this.at.cursor ?? 'earliest') : this.#start;
    return { sessionId: this.sessionId, [start.includes('.') ? 'cursor' : 'from']: start };
  }

  /** Forgets its place and starts anew. */
  restart(start: Start): void {
    this.#start = start;
    this.at = undefined;
  }

  /** The consumer has room again. */
  drained(): void {
    if (!this.full) return;
    this.full = false;
    this.wake();
  }

  /** Takes events that lead to `place`, unless it had them before. */
  offer(events: readonly GatewayEvent[], place: Place | undefined, isSnapshot: boolean): void {
    if (place && this.at && !(isSnapshot && this.awaitsSnapshot)) {
      const sameEpoch = place.epoch === this.at.epoch;
      // An event of another epoch without a snapshot is a replay for another reader.
      if (sameEpoch ? place.seq <= this.at.seq : !isSnapshot && this.at.epoch !== null) return;
    }
    if (this.sink.take(events)) {
      if (place) {
        this.at = place;
        this.awaitsSnapshot = false;
      }
    } else {
      this.full = true;
      this.ready = false;
    }
  }
}
