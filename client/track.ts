import type { GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import type { SubscribeTarget } from '../shared/operation-types.js';
import { BEGINNING, NOWHERE, type Place, placeOf, type Reader, type Start } from './reader.js';

/** Events kept for readers that come a little late: those of a run join when its `send` is answered. */
const RING = 1024;

interface Kept {
  readonly event: GatewayEvent;
  readonly place: Place;
}

/** What a track asks of its owner. */
export interface TrackHost {
  /** A reader wants what is not kept here. It stays in `readers`. */
  fetch(track: Track, reader: Reader): void;
}

/**
 * One session on a line. The wire has one cursor, which only moves forward and outlives every link. Readers behind it are served from
 * a ring of recent events; those that need more are fetched for apart.
 */
export class Track {
  id: string;
  readonly readers = new Set<Reader>();
  readonly #host: TrackHost;
  /** Everything up to here has come; undefined until the gateway said where it starts. */
  #wire: Place | undefined;
  /** Everything after this place is in the ring. */
  #ringStart: Place | undefined;
  #ring: Kept[] = [];
  /** Place before the active run's first event, null where none is active, undefined where it is not known. */
  #runStart: Place | null | undefined;
  #activeRun: string | undefined;
  #start: Start = 'now';
  #gap: GatewayEvent | undefined;
  /** A snapshot was announced and has not come yet; until then a cut resumes from before it, so that it is never passed over. */
  #awaitsSnapshot = false;
  /** The present link has placed it. */
  isLive = false;
  /** The present link was asked for it. */
  isAsked = false;
  /** It is being given up on the present link. */
  isLeaving = false;

  constructor(id: string, host: TrackHost) {
    this.id = id;
    this.#host = host;
  }

  /** The run that is active, as far as is known here: null for none, undefined for unknown. */
  get activeRun(): string | null | undefined {
    return this.isLive && this.#runStart === null ? null : this.#activeRun;
  }

  add(reader: Reader): void {
    this.readers.add(reader);
    this.serve(reader);
  }

  /** Feeds a reader from its place on, now or as soon as that is known to be possible. */
  serve(reader: Reader): void {
    reader.feeder = undefined;
    const wire = this.#wire;
    // Until the gateway answers, nobody knows what it will bring.
    if (!wire || this.#awaitsSnapshot || (!reader.at && !this.isLive)) return;
    if (!this.covers(reader)) return this.#host.fetch(this, reader);
    const from = reader.at ?? (reader.start === 'now' ? wire : this.#placeOfWord(reader.start)!);
    if (!reader.at) reader.moveTo(from);
    reader.feeder = this;
    const late = this.#ring.filter(({ place }) => place.epoch !== from.epoch || place.seq > from.seq);
    for (const { event, place } of late) if (!this.#give(reader, [event], place)) return;
  }

  /** Whether a reader can go on from here without missing anything. */
  covers({ at, start }: Reader): boolean {
    const first = this.#ringStart;
    if (!first || this.#awaitsSnapshot) return false;
    const place = at ?? (start === 'now' ? this.#wire : this.#placeOfWord(start));
    return !!place && (place.epoch === first.epoch || place.epoch === null) && place.seq >= first.seq;
  }

  /** What to subscribe to, and from where. */
  target(): SubscribeTarget {
    this.isAsked = true;
    if (this.#wire) this.#start = this.#wire.cursor ?? BEGINNING;
    else this.#start = [...this.readers].map(({ start }) => start).sort(byNeed)[0] ?? 'now';
    const start = this.#start;
    return { sessionId: this.id, [WORDS.includes(start) ? 'from' : 'cursor']: start };
  }

  /** The gateway says where it starts; false where that does not go on from here, so that it has to be asked for again. */
  placed(info: SubscriptionInfo): boolean {
    const { epoch, head, resume, runId } = info;
    const wire = this.#wire;
    const isFirst = !wire;
    const hasGap = resume === 'gap';
    const place = placeOf(info.cursor) ?? NOWHERE;
    // It was asked for by a word, on a link that overlaps with another one, which has placed it meanwhile.
    if (wire && resume === 'new' && isAfter(place, wire)) return false;
    this.isLive = true;
    this.#gap = undefined;
    this.#awaitsSnapshot = hasGap || (isFirst && this.#start === 'snapshot' && epoch !== null);
    if (isFirst && !this.#awaitsSnapshot) {
      this.#restart(place);
      this.#activeRun = runId;
      this.#runStart = runId === undefined ? null : this.#start === 'run' ? place : undefined;
    }
    for (const reader of [...this.readers]) {
      if (reader.feeder) continue;
      const wasAsked = isFirst && reader.start === this.#start;
      if (this.#awaitsSnapshot) {
        // A gap is news to whoever has read before it, and to whom it answers; others begin after it.
        if (wasAsked) reader.at = undefined;
        if (wasAsked || (hasGap && reader.at)) reader.feeder = this;
      } else if (wasAsked && !reader.at) {
        reader.moveTo(place);
        reader.feeder = this;
      } else {
        if (!reader.at && reader.start === 'now') reader.at = { epoch, seq: head };
        this.serve(reader);
      }
    }
    return true;
  }

  /** Passes an event on: `moved` when it is new, `hole` when events before it are missing. */
  take(event: GatewayEvent): 'moved' | 'known' | 'hole' {
    const wire = this.#wire;
    if (event.type === 'snapshot')
      return this.#awaitsSnapshot || this.#gap ? this.#takeSnapshot(event) : 'known';
    if (event.type === 'gap') this.#gap = event;
    if (!wire || !this.isLive || this.#awaitsSnapshot || this.#gap) return 'known';
    const place = placeOf(event.cursor);
    if (place) {
      const sameLog = place.epoch === wire.epoch;
      if (sameLog && place.seq <= wire.seq) return 'known';
      if (place.seq !== wire.seq + 1 || !(sameLog || wire.epoch === null)) return 'hole';
      this.#keep(event, wire, place);
    }
    for (const reader of [...this.readers]) {
      const { at } = reader;
      const isNew = !place || !at || at.epoch !== place.epoch || at.seq < place.seq;
      // Who waits for a snapshot is told of nothing before it.
      if (reader.feeder === this && at && isNew) this.#give(reader, [event], place);
    }
    return 'moved';
  }

  /** The link is gone. The cursor stays. */
  unlink(): void {
    this.isLive = this.isAsked = this.isLeaving = this.#awaitsSnapshot = false;
    this.#gap = undefined;
    for (const reader of this.readers) if (!reader.at && reader.feeder === this) reader.feeder = undefined;
  }

  #takeSnapshot(event: GatewayEvent): 'moved' {
    const place = placeOf(event.cursor) ?? NOWHERE;
    const gap = this.#gap;
    const state = (event as { readonly state?: { readonly run?: { readonly runId: string } | null } }).state;
    this.#gap = undefined;
    this.#awaitsSnapshot = false;
    this.#restart(place);
    this.#activeRun = state?.run?.runId;
    this.#runStart = state?.run ? undefined : null;
    for (const reader of [...this.readers]) {
      if (reader.feeder !== this) {
        if (!reader.feeder) this.serve(reader);
      } else if (gap || !reader.at) this.#give(reader, gap ? [gap, event] : [event], place);
    }
    return 'moved';
  }

  #give(reader: Reader, events: readonly GatewayEvent[], place: Place | undefined): boolean {
    const taken = reader.offer(events, place);
    // Its iterator says when there is room again.
    if (!taken) reader.feeder = undefined;
    return taken && reader.feeder === this;
  }

  #restart(place: Place): void {
    this.#wire = this.#ringStart = place;
    this.#ring = [];
  }

  #keep(event: GatewayEvent, wire: Place, place: Place): void {
    if (this.#ringStart === NOWHERE || this.#ringStart?.epoch === null)
      this.#ringStart = { epoch: place.epoch, seq: 0 };
    this.#wire = place;
    this.#ring.push({ event, place });
    if (this.#ring.length > RING) this.#ringStart = this.#ring.splice(0, RING / 2).at(-1)!.place;
    if (event.type === 'message_start') {
      this.#activeRun = event.runId;
      this.#runStart = { epoch: place.epoch, seq: wire.seq };
    } else if (
      event.type === 'session_closed' ||
      (event.type === 'message_end' && event.runId === this.#activeRun)
    ) {
      this.#activeRun = undefined;
      this.#runStart = null;
    }
  }

  #placeOfWord(start: Start): Place | undefined {
    // Before a log every start is the same.
    if (this.#wire?.epoch === null) return this.#wire;
    if (start === 'run') return this.#runStart === null ? this.#wire : this.#runStart;
    return start === 'earliest' && this.#ringStart?.seq === 0 ? this.#ringStart : undefined;
  }
}

/** Whether a place lies beyond another one, or in another log than that. */
function isAfter(place: Place, { epoch, seq }: Place): boolean {
  return place.seq > seq || (epoch !== null && place.epoch !== epoch);
}

/** What serves most of those who begin together: the earliest cursor, else the word that the others can do without. */
function byNeed(a: Start, b: Start): number {
  const [x, y] = [placeOf(a), placeOf(b)];
  if (x && y) return x.epoch === y.epoch ? x.seq - y.seq : 0;
  return x || y ? (x ? -1 : 1) : WORDS.indexOf(a) - WORDS.indexOf(b);
}

const WORDS: readonly Start[] = ['earliest', 'snapshot', 'run', 'now'];
