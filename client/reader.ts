import type { GatewayEvent } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { From } from '../shared/operation-types.js';
import { attempt } from './listeners.js';

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

/** Whether a place lies beyond another one, or in another log than that. */
export function isAfter(place: Place, { epoch, seq }: Place): boolean {
  return place.seq > seq || (epoch !== null && place.epoch !== epoch);
}

/** The cursor before the first conversation: whoever stood there before it began has missed everything since. */
export const BEGINNING = '';

/** Where a reader starts: a word of the protocol or a cursor. */
export type Start = From | (string & {});

/** What a reader feeds. */
export interface Sink {
  /** Whether there is no room: what comes next is fetched again, later. */
  isFull?(): boolean;
  /** Whether a hidden page is to stay connected for it. */
  readonly isUrgent?: boolean;
  /** It is known where the reader starts. */
  begun?(place: Place): unknown;
  /** Takes events that belong together. */
  take(events: readonly GatewayEvent[]): void;
  /** No more events will come. Without an error the client let go. */
  end(error?: GatewayError): void;
}

/** One consumer of a session: a cursor and a sink. */
export interface Reader {
  readonly sessionId: string;
  readonly sink: Sink;
  /** Where it begins: what to subscribe to for it. */
  start: Start;
  /** Everything up to here was taken. Undefined until it is known where it starts. */
  at: Place | undefined;
  /** Whoever feeds it at the moment; undefined while it waits, for the gateway to place its session or for room. */
  feeder: object | undefined;
}

/** A place before a log is found again as the start of the log that has come since. */
export function moveTo(reader: Reader, place: Place): void {
  const hasBegun = reader.at;
  reader.at = place;
  reader.start = place.cursor ?? BEGINNING;
  if (!hasBegun) attempt(() => reader.sink.begun?.(place));
}

/** Gives a reader the next events, which lead to `place`; where there is no room it waits from now on, and nothing else has happened. */
export function give(reader: Reader, events: readonly GatewayEvent[], place: Place | undefined): void {
  const { sink } = reader;
  if (sink.isFull?.()) {
    // Its iterator says when there is room again.
    reader.feeder = undefined;
    return;
  }
  // It moves first: whatever becomes of the events, they are not given twice.
  if (place) moveTo(reader, place);
  attempt(() => sink.take(events));
}
