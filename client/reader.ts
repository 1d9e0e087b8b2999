import type { GatewayEvent } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { From } from '../shared/operation-types.js';
import { attempt } from './listeners.js';

/** A place in a session's log. Before the first event there is neither an epoch nor a cursor. */
export interface ReaderPlace {
  readonly epoch: string | null;
  readonly seq: number;
  readonly cursor?: string;
}

/** The place before a session's first event. */
export const NOWHERE: ReaderPlace = { epoch: null, seq: 0 };

/** Reads a cursor; undefined without one. A malformed cursor becomes a place in no log, which the gateway will answer with a gap. */
export function placeOf(cursor: string | null | undefined): ReaderPlace | undefined {
  const [epoch, , seq] = cursor?.split('.') ?? [];
  return cursor && epoch && seq ? { epoch, seq: Number(seq), cursor } : undefined;
}

/** Whether a place lies beyond another one, or in another log. */
export function isAfter(place: ReaderPlace, { epoch, seq }: ReaderPlace): boolean {
  return place.seq > seq || (epoch !== null && place.epoch !== epoch);
}

/** The cursor before the first conversation: a reader that was there before it began has missed everything since. */
export const BEGINNING = '';

/** The start of a reader: a word of the protocol or a cursor. */
export type Start = From | (string & {});

/** The receiver of a reader's events. */
export interface ReaderSink {
  /** Whether there is no room. Events are then fetched again later. */
  isFull?(): boolean;
  /** Whether a hidden page stays connected for it. */
  readonly isUrgent?: boolean;
  /** The place where the reader starts is known. */
  begun?(place: ReaderPlace): unknown;
  /** Takes events that belong together. */
  take(events: readonly GatewayEvent[]): void;
  /** No more events will come. Without an error, the client let go. */
  end(error?: GatewayError): void;
}

/** One consumer of a session: a cursor and a sink. */
export interface SessionConsumer {
  readonly sessionId: string;
  readonly sink: ReaderSink;
  /** The start of its subscription. */
  start: Start;
  /** Everything up to here was taken. Undefined until its start is known. */
  at: ReaderPlace | undefined;
  /** The line or track that feeds it now; undefined while it waits for room, or for the gateway to place its session. */
  feeder: object | undefined;
}

/** Moves a reader. A place before the first log has no cursor; the reader then subscribes from the beginning. */
export function moveTo(reader: SessionConsumer, place: ReaderPlace): void {
  const hasBegun = reader.at;
  reader.at = place;
  reader.start = place.cursor ?? BEGINNING;
  if (!hasBegun) attempt(() => reader.sink.begun?.(place));
}

/** Gives a reader the next events, which lead to `place`. Without room the reader waits from now on, and nothing else happens. */
export function give(
  reader: SessionConsumer,
  events: readonly GatewayEvent[],
  place: ReaderPlace | undefined,
): void {
  const { sink } = reader;
  if (sink.isFull?.()) {
    // Its iterator reports when there is room again.
    reader.feeder = undefined;
    return;
  }
  // The reader moves first, so that events are never given twice, even if the sink throws.
  if (place) moveTo(reader, place);
  attempt(() => sink.take(events));
}
