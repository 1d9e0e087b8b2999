import type { GatewayError } from '../shared/errors.js';
import type { EventOf, GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import { initialState } from '../shared/fold.js';
import type { SubscribeTarget } from '../shared/operation-types.js';
import { NOWHERE, type Place, placeOf, type Reader } from './reader.js';
import type { Link } from './transport/transport.js';

/** What a feed needs of its connection. */
export interface FeedHost {
  /** The link that can be asked for subscriptions; undefined until it is connected. */
  readonly wire: Link | undefined;
  /** Continuity of the wire broke: start over from where the readers are. */
  cut(): void;
  refused(feed: Feed, error: GatewayError): void;
  drop(feed: Feed): void;
}

/**
 * One session on the link. The wire has one place, readers have their own: the feed asks for subscriptions, one at a time, until
 * every reader is served, and notices holes.
 */
export class Feed {
  readonly id: string;
  readonly readers = new Set<Reader>();
  readonly #host: FeedHost;
  /** Last place the wire brought; undefined while this link has not subscribed to the session. */
  #wire: Place | undefined;
  /** A change of the subscription is under way, for these readers. */
  #asked: readonly Reader[] | undefined;
  #gap: GatewayEvent | undefined;
  /** Readers of two epochs would take the wire from each other for ever: each keeps it for one event at least. */
  #settling = false;

  constructor(id: string, host: FeedHost) {
    this.id = id;
    this.#host = host;
  }

  add(reader: Reader): void {
    this.readers.add(reader);
    reader.wake = () => this.pump();
    const wire = this.#wire;
    const { at } = reader;
    if (!wire || !(at ? isBefore(wire, at) : reader.target.from === 'now')) return this.pump();
    reader.at ??= wire;
    reader.ready = true;
  }

  /** The next subscription to ask for; counts as asked. */
  nextTarget(): SubscribeTarget | undefined {
    let first: Reader | undefined;
    for (const reader of this.readers)
      if (reader.waits && (!first || comesFirst(reader, first))) first = reader;
    if (!first) return undefined;
    const { target } = first;
    this.#asked = [...this.readers].filter(
      (reader) =>
        reader.waits && reader.target.cursor === target.cursor && reader.target.from === target.from,
    );
    return target;
  }

  /** Asks for what is missing, if nothing is being asked. */
  pump(): void {
    const link = this.#host.wire;
    if (!link || this.#asked || this.#settling) return;
    const target = this.nextTarget();
    if (target) {
      link.subscribe({ add: [target] }).catch((error) => {
        if (this.#host.wire === link) this.#host.refused(this, error);
      });
    } else if (this.readers.size === 0) this.#leave(link);
  }

  #leave(link: Link): void {
    const left = () => {
      if (this.#host.wire !== link) return;
      this.reset();
      if (this.readers.size > 0) this.pump();
      else this.#host.drop(this);
    };
    if (!this.#wire) return left();
    this.#asked = [];
    link.subscribe({ remove: [this.id] }).then(left, left);
  }

  /** The wire starts at `info.next`: whoever needs no earlier event is served. */
  placed(info: SubscriptionInfo): void {
    const asked = this.#asked ?? [];
    this.#asked = this.#gap = undefined;
    const wire = { epoch: info.epoch, seq: info.next - 1 };
    this.#wire = wire;
    for (const reader of this.readers) {
      if (reader.full) continue;
      const { at, ready: wasReady } = reader;
      const mine = asked.includes(reader);
      const broken = info.resume === 'gap';
      reader.ready = mine || (!broken && !!at && isBefore(wire, at));
      if (!reader.ready) this.#settling ||= wasReady && at?.epoch !== wire.epoch;
      else if (mine && broken) reader.awaitsSnapshot = true;
      else if (!at) {
        reader.awaitsSnapshot = reader.target.from === 'snapshot';
        reader.at = wire;
      } else if (mine && !(isBefore(wire, at) && (wire.epoch ?? at.epoch) === wire.epoch))
        this.#lose(reader, at, info);
    }
    this.pump();
  }

  /** The gateway continued without a gap, but not from where this reader is: say so in its place. */
  #lose(reader: Reader, at: Place, { epoch, first, head }: SubscriptionInfo): void {
    const sessionId = this.id;
    const reason = at.epoch === null || at.epoch === epoch ? 'truncated' : 'epoch';
    const gap: EventOf<'gap'> = {
      type: 'gap',
      sessionId,
      reason,
      requested: at.cursor ?? null,
      epoch,
      first,
      head,
    };
    if (epoch === null) {
      reader.offer([gap, { type: 'snapshot', sessionId, state: initialState }], NOWHERE, true);
    } else {
      reader.offer([gap], undefined, false);
      reader.restart('snapshot');
      reader.ready = false;
    }
  }

  /** Passes an event of the session on; true when it moved the wire. */
  take(event: GatewayEvent): boolean {
    if (!this.#wire) return false;
    this.#settling = false;
    if (event.type === 'gap') {
      this.#gap = event;
      return false;
    }
    const isSnapshot = event.type === 'snapshot';
    const wasNew = this.#wire.epoch === null;
    const place = placeOf(event.cursor) ?? (isSnapshot ? NOWHERE : undefined);
    if (place && !isSnapshot) {
      const { epoch, seq } = this.#wire;
      if (place.epoch === epoch && place.seq <= seq) return false;
      if (place.seq !== seq + 1 || (place.epoch !== epoch && epoch !== null)) {
        this.#host.cut();
        return false;
      }
    }
    const events = this.#gap && isSnapshot ? [this.#gap, event] : [event];
    this.#gap = undefined;
    if (place) this.#wire = place;
    for (const reader of this.readers) {
      // The session came into being, but not the one this reader knows: it must ask for its own.
      if (wasNew && !isSnapshot && reader.at?.epoch && reader.at.epoch !== place?.epoch) reader.ready = false;
      if (reader.ready) reader.offer(events, place, isSnapshot);
    }
    this.pump();
    return true;
  }

  /** The gateway accounted for everything up to here: readers that had no cursor for it get one. */
  mark(place: Place | undefined): void {
    const marked = (at: Place | undefined) =>
      place && at?.epoch === place.epoch && at.seq === place.seq ? place : at;
    this.#wire = marked(this.#wire);
    for (const reader of this.readers) reader.at = marked(reader.at);
    this.#settling = false;
    this.pump();
  }

  /** The link is gone. */
  reset(): void {
    this.#wire = this.#asked = this.#gap = undefined;
    this.#settling = false;
    for (const reader of this.readers) reader.ready = false;
  }

  end(error?: GatewayError): void {
    const readers = [...this.readers];
    this.readers.clear();
    for (const reader of readers) reader.sink.end(error);
  }
}

/** Whether the wire will still bring all that a reader at `at` has not seen. */
function isBefore(wire: Place, at: Place): boolean {
  return (wire.epoch === at.epoch || wire.epoch === null || at.epoch === null) && wire.seq <= at.seq;
}

/** Readers with a place come first, the oldest of an epoch before the others: one subscription serves them all. */
function comesFirst({ at: a }: Reader, { at: b }: Reader): boolean {
  return !!a && (!b || (a.epoch === b.epoch && a.seq < b.seq));
}
