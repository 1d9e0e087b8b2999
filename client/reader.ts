import type { GatewayEvent } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { From } from '../shared/operation-types.js';

/** A place in a session's log. Before the first event there is neither an epoch nor a cursor. */
export interface Place {
  readonly epoch: string | null;
  readonly seq: number;
  readonly cursor?: string;
}

/** The place before a session's first event. */
export const NOWHERE: Place = { epoch: null, seq: 0 };

/** Reads a cursor; undefined when there is none. One that is malformed is no place of any log, which the gateway will say. */
export function placeOf(cursor: string | null | undefined): Place | undefined {
  const [epoch, , seq] = cursor?.split('.') ?? [];
  return cursor && epoch && seq ? { epoch, seq: Number(seq), cursor } : undefined;
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
  /** What to subscribe to for it: a cursor, or where to begin. */
  start: Start;
  /** Everything up to here was taken. Undefined until the wire says where it starts; then that is taken, wherever it is. */
  at: Place | undefined;
  /** Takes what the wire brings. Otherwise it waits for a subscription of its own, unless it is `full`. */
  ready = false;
  full = false;
  /** Set by the feed: asks again for a reader that has room. */
  wake: () => void = () => {};

  constructor(sessionId: string, start: Start, sink: Sink) {
    this.sessionId = sessionId;
    this.start = start;
    this.sink = sink;
    this.at = placeOf(start);
  }

  get waits(): boolean {
    return !this.ready && !this.full;
  }

  /** A place before a log is found again as the start of the log that has come since. */
  moveTo(place: Place): void {
    this.at = place;
    this.start = place.cursor ?? 'earliest';
  }

  /** The consumer has room again. */
  drained(): void {
    if (!this.full) return;
    this.full = false;
    this.wake();
  }

  /** Takes events that lead to `place`, unless it had them before. */
  offer(events: readonly GatewayEvent[], place: Place | undefined): void {
    if (place && place.epoch === this.at?.epoch && place.seq <= this.at.seq) return;
    if (this.sink.take(events)) {
      if (place) this.moveTo(place);
    } else {
      this.full = true;
      this.ready = false;
    }
  }
}
