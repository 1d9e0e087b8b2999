import type { EventOf, GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import type { SubscribeTarget } from '../shared/operation-types.js';
import {
  BEGINNING,
  give,
  isAfter,
  moveTo,
  NOWHERE,
  placeOf,
  type ReaderPlace,
  type SessionConsumer,
  type Start,
} from './reader.js';

/** Events kept for readers that come a little late: the readers of a run join when its `send` is answered. */
const RING = 1024;

interface TrackedState {
  readonly event: GatewayEvent;
  readonly place: ReaderPlace;
}

/**
 * One session on a line. The wire has one cursor, which only moves forward and outlives every link. Readers behind it are served from a ring of
 * recent events; readers further behind are fetched for on lines of their own.
 */
export interface Track {
  readonly id: string;
  readonly readers: Set<SessionConsumer>;
  /** The active run, as far as is known here: null for none, undefined for unknown. */
  activeRun(): string | null | undefined;
  /** Adds a reader. */
  add(reader: SessionConsumer): void;
  /** Feeds a reader from its place on, now or as soon as that is known to be possible. */
  serve(reader: SessionConsumer): void;
  /** Whether a reader can go on from here without missing anything. */
  covers(reader: SessionConsumer): boolean;
  /** The session and the start to subscribe with. */
  target(): SubscribeTarget;
  /** The gateway reports the start. False if the start does not continue this track, so that it must be asked for again. */
  placed(info: SubscriptionInfo): boolean;
  /** Passes an event on. Returns whether it is new; undefined if events before it are missing. */
  take(event: GatewayEvent): boolean | undefined;
  /** The link is gone. The cursor stays. */
  unlink(): void;
}

/** @param onBehind Receives the readers that want events which are not kept here. They stay in `readers`. */
export function createTrack(id: string, onBehind?: (reader: SessionConsumer) => unknown): Track {
  const readers = new Set<SessionConsumer>();
  /** Everything up to here has come; undefined until the gateway reported the start. */
  let wire: ReaderPlace | undefined;
  /** Everything after this place is in the ring. */
  let ringStart = NOWHERE;
  let ring: TrackedState[] = [];
  /** Place before the active run's first event; null if none is active, undefined if that is not known. */
  let runStart: ReaderPlace | null | undefined;
  let activeRun: string | undefined;
  let start: Start = 'now';
  let gap: GatewayEvent | undefined;
  /** A snapshot was announced and has not come yet. A cut resumes from before it, so that it is never skipped. */
  let awaitsSnapshot = false;
  /** The present link has placed the track. */
  let isLive = false;

  const restart = (place: ReaderPlace, runId: string | undefined) => {
    wire = ringStart = place;
    ring = [];
    activeRun = runId;
    runStart = runId === undefined ? null : undefined;
  };

  const keep = (event: GatewayEvent, before: ReaderPlace, place: ReaderPlace) => {
    if (ringStart.epoch === null) ringStart = { epoch: place.epoch, seq: 0 };
    wire = place;
    ring.push({ event, place });
    if (ring.length > RING) ringStart = ring.splice(0, RING / 2).at(-1)!.place;
    const { type } = event;
    if (type === 'message_start') {
      activeRun = event.runId;
      runStart = { epoch: place.epoch, seq: before.seq };
    } else if (type === 'session_closed' || (type === 'message_end' && event.runId === activeRun)) {
      activeRun = undefined;
      runStart = null;
    }
  };

  /** A reader's place, or its start if it began now; undefined if the events from there are not kept. */
  const placeFor = ({ at, start }: SessionConsumer): ReaderPlace | null | undefined => {
    if (at) return at;
    // Before a log every start is the same.
    if (start === 'now' || wire?.epoch === null) return wire;
    if (start === 'run') return runStart === null ? wire : runStart;
    return start === 'earliest' && ringStart.seq === 0 ? ringStart : undefined;
  };

  const covers = (reader: SessionConsumer) => {
    const place = placeFor(reader);
    return !!wire && !awaitsSnapshot && !!place && !isAfter(ringStart, place);
  };

  const serve = (reader: SessionConsumer) => {
    reader.feeder = undefined;
    // Before the gateway answers, nobody knows what it will bring. A reader may also have left because of another one's events.
    if (!readers.has(reader) || !wire || awaitsSnapshot || reader.sink.isFull?.() || (!reader.at && !isLive))
      return;
    if (!covers(reader)) return void onBehind?.(reader);
    const from = placeFor(reader)!;
    if (!reader.at) moveTo(reader, from);
    reader.feeder = track;
    for (const { event, place } of ring.filter(({ place }) => isAfter(place, from)))
      if (reader.feeder === track) give(reader, [event], place);
  };

  const takeSnapshot = (event: EventOf<'snapshot'>) => {
    const place = placeOf(event.cursor) ?? NOWHERE;
    const events = gap ? [gap, event] : [event];
    gap = undefined;
    awaitsSnapshot = false;
    restart(place, event.state.run?.runId);
    for (const reader of [...readers])
      if (!reader.feeder) serve(reader);
      else if (reader.feeder === track && (events.length > 1 || !reader.at)) give(reader, events, place);
    return true;
  };

  const track: Track = {
    id,
    readers,
    activeRun: () => (isLive && runStart === null ? null : activeRun),
    add: (reader) => {
      readers.add(reader);
      serve(reader);
    },
    serve,
    covers,
    target: () => {
      const starts = [...readers].map((reader) => reader.start);
      // The start that serves most of the readers that begin together: a cursor, else the word that the others can do without.
      start = wire
        ? (wire.cursor ?? BEGINNING)
        : (starts.find(placeOf) ?? WORDS.find((word) => starts.includes(word)) ?? starts[0]!);
      return { sessionId: id, [WORDS.includes(start) ? 'from' : 'cursor']: start };
    },
    placed: (info) => {
      const { epoch, head, resume, runId } = info;
      const isFirst = !wire;
      const place = placeOf(info.cursor) ?? NOWHERE;
      // The start was asked for by a word, on a link that overlaps with another one, which has placed the track meanwhile.
      if (wire && resume === 'new' && isAfter(place, wire)) return false;
      isLive = true;
      gap = undefined;
      awaitsSnapshot = resume === 'gap' || (isFirst && start === 'snapshot' && epoch !== null);
      if (isFirst && !awaitsSnapshot) {
        restart(place, runId);
        if (runId !== undefined && start === 'run') runStart = place;
      }
      for (const reader of [...readers]) {
        if (reader.feeder) continue;
        if (awaitsSnapshot) {
          // The first snapshot is for readers that asked for it. A later gap concerns the readers that have read before it; others begin after it.
          if (isFirst ? reader.start !== start : !reader.at) continue;
          if (isFirst) reader.at = undefined;
          reader.feeder = track;
        } else {
          if (!reader.at && reader.start === 'now') reader.at = { epoch, seq: head };
          serve(reader);
        }
      }
      return true;
    },
    take: (event) => {
      const isAnnounced = awaitsSnapshot || gap;
      if (event.type === 'snapshot') return !!isAnnounced && takeSnapshot(event);
      if (event.type === 'gap') gap = event;
      if (!wire || !isLive || awaitsSnapshot || gap) return false;
      const place = placeOf(event.cursor);
      if (place) {
        if (!isAfter(place, wire)) return false;
        // An event that stands for hidden ones accounts for them.
        const { count } = event as Partial<EventOf<'hidden'>>;
        if (isAfter(place, { ...wire, seq: wire.seq + (count ?? 1) })) return;
        keep(event, wire, place);
      }
      // A reader that waits for a snapshot gets nothing before it.
      for (const reader of [...readers])
        if (reader.feeder === track && reader.at && (!place || isAfter(place, reader.at)))
          give(reader, [event], place);
      return true;
    },
    unlink: () => {
      isLive = awaitsSnapshot = false;
      gap = undefined;
      for (const reader of readers) if (!reader.at && reader.feeder === track) reader.feeder = undefined;
    },
  };
  return track;
}

const WORDS: readonly Start[] = ['earliest', 'snapshot', 'run', 'now'];
