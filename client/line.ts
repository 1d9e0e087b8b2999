import type { EventOf, GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import { GatewayError, isGatewayError } from '../shared/gateway-error.js';
import type { SubscribeTarget } from '../shared/operation-types.js';
import type { Reader } from './reader.js';
import { backoff, quietTimer, Watchdog } from './timing.js';
import { Track, type TrackHost } from './track.js';
import { silence } from './transport/failure.js';
import type { ClientTransport, Link, LinkEnd } from './transport/transport.js';

/** Silence of this many heartbeats counts as a cut. */
const SILENT_HEARTBEATS = 2.5;
/** A line that is silent again at the same place is given more time, up to so many times as much: a big event may be on its way. */
const MOST_PATIENCE = 16;

export type LineState = 'idle' | 'connecting' | 'open' | 'reconnecting';

/** What a line tells its owner. */
export interface LineHost extends TrackHost {
  changed(state: LineState, error?: GatewayError): void;
  /** Nothing more will come for these readers. */
  ended(readers: readonly Reader[], error?: GatewayError): void;
  /** A session's cursor has moved. */
  moved?(track: Track): void;
  /** Whether nobody would miss the line if it broke now. */
  isSpare?(): boolean;
}

/** Sessions over one link at a time, which is opened again wherever it breaks. */
export class Line {
  readonly tracks = new Map<string, Track>();
  readonly #transport: ClientTransport;
  readonly #host: LineHost;
  readonly #connectMs: number;
  readonly #watchdog = new Watchdog(() => this.#silent());
  state: LineState = 'idle';
  #link: Link | undefined;
  /** A link that is to take the place of the present one, once it is connected. */
  #next: Link | undefined;
  #attempt = 0;
  #patience = 1;
  /** Heartbeats of this link. The first comes at once and says little of the line. */
  #beats = 0;
  #heartbeatMs = 0;
  #defaultApp: string | undefined;
  #backoff: ReturnType<typeof setTimeout> | undefined;

  /** @param connectMs Milliseconds for a link to be connected, and for a subscription to be answered. */
  constructor(transport: ClientTransport, host: LineHost, connectMs: number) {
    this.#transport = transport;
    this.#host = host;
    this.#connectMs = connectMs;
  }

  /** The session of an id, which is subscribed to if it is new. */
  track(id: string): Track {
    const name = this.canonical(id);
    let track = this.tracks.get(name);
    if (!track) {
      track = new Track(name, this.#host);
      this.tracks.set(name, track);
    }
    return track;
  }

  /** The same, if it is there. */
  find(id: string): Track | undefined {
    return this.tracks.get(this.canonical(id));
  }

  /** The one form of a session's key that the gateway writes; as it is, before the first connection. */
  canonical(id: string): string {
    const [app, name, more] = id.split(':');
    return app === this.#defaultApp && name && more === undefined ? name : id;
  }

  /** Asks for sessions that the link does not bring yet; opens one where there is none. */
  pull(): void {
    if (this.state === 'idle') {
      this.#become('connecting');
      // What is followed in the same turn travels in the first request.
      queueMicrotask(() => this.state === 'connecting' && !this.#link && this.#open());
    } else if (this.state === 'open') this.#ask([...this.tracks.values()].filter(({ isAsked }) => !isAsked));
  }

  /** Lets a session go that nobody reads any more. */
  leave(track: Track): void {
    if (track.isLeaving || track.readers.size > 0) return;
    const link = this.#link;
    if (!link || !track.isLive || this.state !== 'open') {
      if (!track.isAsked) this.tracks.delete(track.id);
      return;
    }
    track.isLeaving = true;
    const left = () => {
      if (this.#link !== link) return;
      // Somebody may have come back meanwhile: requests can overtake each other, so that it could not be asked for before.
      if (track.readers.size > 0) {
        track.unlink();
        this.pull();
      } else this.tracks.delete(track.id);
    };
    this.#request(link, { remove: [track.id] }).then(left, left);
  }

  /** Ends a back-off. */
  hurry(): void {
    if (this.state === 'reconnecting' && !this.#link) this.#open();
  }

  /** Has a new link take over from the present one, which goes on until then. */
  renew(): void {
    if (this.state !== 'open') return this.hurry();
    this.#next?.close();
    const targets = [...this.tracks.values()]
      .filter((track) => !track.isLeaving)
      .map((track) => track.target());
    try {
      this.#next = this.#dial(targets);
    } catch {
      // The present one goes on.
    }
  }

  /** Renews a link that has been silent for a while. */
  check(): void {
    if (!this.#watchdog.isCalm) this.renew();
    else this.hurry();
  }

  /** Lets the link go and keeps the place in every session; `hurry` and `pull` come back. */
  pause(): void {
    this.#unlink();
    this.state = 'idle';
  }

  /** Ends the link and every reader. */
  stop(error?: GatewayError): void {
    const readers = [...this.tracks.values()].flatMap((track) => [...track.readers]);
    this.#unlink();
    this.tracks.clear();
    this.#attempt = 0;
    this.#patience = 1;
    this.#become('idle', error);
    this.#host.ended(readers, error);
  }

  #become(state: LineState, error?: GatewayError): void {
    this.state = state;
    this.#host.changed(state, error);
  }

  #unlink(): void {
    clearTimeout(this.#backoff);
    this.#watchdog.stop();
    const links = [this.#link, this.#next];
    this.#link = this.#next = undefined;
    for (const link of links) link?.close();
    for (const track of this.tracks.values()) track.unlink();
  }

  /** @param apart Opens the link empty and adds each session by itself, so that a refusal meets only its own session. */
  #open(apart = false): void {
    clearTimeout(this.#backoff);
    for (const track of this.tracks.values()) if (track.readers.size === 0) this.tracks.delete(track.id);
    const targets = apart ? [] : [...this.tracks.values()].map((track) => track.target());
    this.#watchdog.start(this.#connectMs);
    this.#beats = 0;
    try {
      this.#link = this.#dial(targets, apart);
    } catch (cause) {
      this.#cut(isGatewayError(cause) ? cause : new GatewayError({ code: 'NETWORK', cause }));
    }
  }

  #dial(targets: readonly SubscribeTarget[], apart = false): Link {
    const link: Link = this.#transport.open(targets, {
      onEvent: (event) => {
        if (link === this.#next && event.type === 'connected') this.#takeOver(link);
        if (link === this.#link) this.#receive(event, apart);
      },
      onProgress: () => {
        if (link === this.#link) this.#watchdog.heard();
      },
      onStale: () => {
        if (link === this.#link) this.renew();
      },
      onClose: (end) => {
        // The old one goes on.
        if (link === this.#next) this.#next = undefined;
        else if (link === this.#link) this.#closed(end, apart);
      },
    });
    return link;
  }

  #takeOver(link: Link): void {
    const old = this.#link;
    this.#link = link;
    this.#next = undefined;
    for (const track of this.tracks.values()) {
      const { isAsked } = track;
      track.unlink();
      track.isAsked = isAsked;
    }
    old?.close();
  }

  #silent(): void {
    if (this.state === 'open') this.#patience = Math.min(this.#patience * 2, MOST_PATIENCE);
    this.#cut(silence());
  }

  #cut(error?: GatewayError): void {
    this.#closed({ error });
  }

  #closed({ error, retryMs }: LinkEnd, apart = false): void {
    if (this.#host.isSpare?.()) return this.stop();
    this.#unlink();
    if (error && isFinal(error)) {
      if (apart || this.tracks.size < 2) return this.stop(error);
      return this.#open(true);
    }
    // Not a quiet timer: somebody awaits what comes next.
    this.#backoff = setTimeout(() => this.#open(), backoff(this.#attempt++, retryMs ?? error?.retryAfterMs));
    this.#become('reconnecting', error);
  }

  #ask(tracks: readonly Track[]): void {
    const link = this.#link;
    if (!link || tracks.length === 0) return;
    this.#request(link, { add: tracks.map((track) => track.target()) }).catch((cause: unknown) => {
      if (this.#link !== link) return;
      const error = isGatewayError(cause) ? cause : new GatewayError({ code: 'NETWORK', cause });
      if (!isFinal(error)) return this.#cut(error);
      const [track, ...others] = tracks;
      if (others.length > 0) {
        for (const each of tracks) this.#ask([each]);
        return;
      }
      this.tracks.delete(track!.id);
      this.#host.ended([...track!.readers], error);
      if (this.tracks.size === 0) this.stop(error);
    });
  }

  /** An answer that does not come would leave its readers waiting for ever, on a stream that looks well. */
  #request(link: Link, change: Parameters<Link['subscribe']>[0]): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new GatewayError({ code: 'TIMEOUT', message: 'A subscription was not answered' }));
      const timer = quietTimer(this.#connectMs, late);
      link
        .subscribe(change)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }

  #connected(event: EventOf<'connected'>, apart: boolean): void {
    this.#heartbeatMs = event.heartbeatMs;
    this.#guard();
    this.#defaultApp = event.defaultApp;
    const merged = this.#rename();
    for (const [id, info] of Object.entries(event.sessions)) {
      const track = this.tracks.get(id);
      if (track && !merged.has(track)) this.#placed(track, info);
    }
    const missing = [...this.tracks.values()].filter(({ isLive }) => !isLive);
    this.#become('open');
    if (apart) for (const track of missing) this.#ask([track]);
    else this.#ask(missing);
  }

  #placed(track: Track, info: SubscriptionInfo): void {
    if (!track.placed(info)) return track.unlink();
    this.#host.moved?.(track);
    // Whoever wanted it may have left before the answer came.
    if (track.readers.size === 0 && !this.#host.isSpare?.()) this.leave(track);
  }

  /** Two spellings may turn out to be one session, which was asked for twice then and has to be asked for again. */
  #rename(): Set<Track> {
    const merged = new Set<Track>();
    for (const track of [...this.tracks.values()]) {
      const id = this.canonical(track.id);
      if (id === track.id) continue;
      this.tracks.delete(track.id);
      const other = this.tracks.get(id);
      if (!other) {
        track.id = id;
        this.tracks.set(id, track);
      } else {
        other.unlink();
        for (const reader of track.readers) other.add(reader);
        merged.add(other);
      }
    }
    return merged;
  }

  #receive(event: GatewayEvent, apart: boolean): void {
    this.#watchdog.heard();
    if (event.type === 'connected') return this.#connected(event, apart);
    if (event.type === 'heartbeat') {
      this.#beats += 1;
      if (this.#beats > 1) this.#works();
      return;
    }
    const track = this.tracks.get(event.sessionId!);
    if (!track) return;
    if (event.type === 'subscribed') {
      this.#placed(track, event);
      return this.pull();
    }
    const taken = track.take(event);
    if (taken === 'hole') return this.#cut();
    if (taken === 'known') return;
    this.#works();
    this.#host.moved?.(track);
  }

  /** The line brings something: what failed before it counts no more. */
  #works(): void {
    this.#attempt = 0;
    if (this.#patience === 1) return;
    this.#patience = 1;
    this.#guard();
  }

  #guard(): void {
    if (this.#transport.isGuarded) this.#watchdog.stop();
    else this.#watchdog.start(this.#heartbeatMs * SILENT_HEARTBEATS * this.#patience);
  }
}

/** Whether the same request would be refused again: only the gateway itself can say so. */
export function isFinal({ code, status, retryable }: GatewayError): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !retryable &&
    ![408, 429].includes(status) &&
    code !== 'CONNECTION_NOT_FOUND'
  );
}
