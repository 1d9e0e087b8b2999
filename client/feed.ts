import type { GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { SubscribeTarget } from '../shared/operation-types.js';
import { NOWHERE, type Place, placeOf, type Reader } from './reader.js';
import type { Link } from './transport/transport.js';

/** What a feed needs of its connection. */
export interface FeedHost {
  /** The link that can be asked for subscriptions; undefined until it is connected. */
  readonly wire: Link | undefined;
  /** Nobody listens at the moment, to any session: what is subscribed stays so. */
  readonly lingers: boolean;
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
    if (!wire || !(at ? isBefore(wire, at) : reader.start === 'now')) return this.pump();
    if (!at) reader.moveTo(wire);
    reader.ready = true;
  }

  /** The next subscription to ask for; counts as asked. The oldest place of an epoch serves the others too. */
  nextTarget(): SubscribeTarget | undefined {
    const waiting = [...this.readers].filter((reader) => reader.waits);
    if (waiting.length === 0) return undefined;
    const { start } = waiting.reduce((first, reader) => (comesFirst(reader, first) ? reader : first));
    this.#asked = waiting.filter((reader) => reader.start === start);
    return { sessionId: this.id, [start.includes('.') ? 'cursor' : 'from']: start };
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
    } else if (this.readers.size === 0 && !this.#host.lingers) this.#leave(link);
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

  /** The wire starts at `info.cursor`: whoever needs no earlier event is served. */
  placed({ cursor, resume }: SubscriptionInfo): void {
    const asked = this.#asked ?? [];
    this.#asked = this.#gap = undefined;
    const wire = placeOf(cursor) ?? NOWHERE;
    this.#wire = wire;
    const broken = resume === 'gap';
    for (const reader of this.readers) {
      if (reader.full) continue;
      const { at, ready: wasReady } = reader;
      const mine = asked.includes(reader);
      reader.ready = mine || (!broken && !!at && isBefore(wire, at));
      if (!reader.ready) this.#settling ||= wasReady && at?.epoch !== wire.epoch;
      // The snapshot that follows is meant for it, wherever it leads.
      else if (mine && broken) reader.at = undefined;
      // No snapshot comes of what does not exist yet.
      else if (!at && (reader.start !== 'snapshot' || !wire.epoch)) reader.moveTo(wire);
    }
    this.pump();
  }

  /** Passes an event of the session on; true when it moved the wire. */
  take(event: GatewayEvent): boolean {
    const wire = this.#wire;
    if (!wire) return false;
    this.#settling = false;
    if (event.type === 'gap') {
      this.#gap = event;
      return false;
    }
    let place = placeOf(event.cursor);
    const events: GatewayEvent[] = [event];
    if (event.type === 'snapshot') {
      place ??= NOWHERE;
      if (this.#gap) events.unshift(this.#gap);
    } else if (place) {
      const sameLog = place.epoch === wire.epoch;
      if (sameLog && place.seq <= wire.seq) return false;
      if (place.seq !== wire.seq + 1 || !(sameLog || wire.epoch === null)) {
        this.#host.cut();
        return false;
      }
    }
    this.#gap = undefined;
    if (place) this.#wire = place;
    for (const reader of this.readers) if (reader.ready) reader.offer(events, place);
    this.pump();
    return true;
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
  return (wire.epoch === at.epoch || at.epoch === null) && wire.seq <= at.seq;
}

function comesFirst({ at: a }: Reader, { at: b }: Reader): boolean {
  return !!a && (!b || (a.epoch === b.epoch && a.seq < b.seq));
}
