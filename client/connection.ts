import { parseVector } from '../shared/cursor.js';
import { GatewayError } from '../shared/errors.js';
import type { GatewayEvent } from '../shared/events.js';
import { Feed, type FeedHost } from './feed.js';
import { Listeners } from './listeners.js';
import { placeOf, type Reader } from './reader.js';
import { backoff, quietTimer } from './timing.js';
import type { ClientTransport, Link, LinkEnd } from './transport/transport.js';

/** `closed` also before the first use and while nobody listens. */
export type ConnectionState = 'connecting' | 'open' | 'reconnecting' | 'closed';

/** What a program may know of its client's connection. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** Why it is `closed` for good, or what `reconnecting` is waiting out. */
  readonly error: GatewayError | undefined;
  /** Calls the listener after each change. Returns what stops it. */
  subscribe(listener: (state: ConnectionState) => void): () => void;
}

/** Silence of this many heartbeats counts as a cut. */
const SILENT_HEARTBEATS = 2.5;
const DEFAULT_HEARTBEAT_MS = 15_000;

/** The one link of a client: opened when somebody listens, kept open for as long, resumed wherever it broke. */
export class Connection implements ConnectionStatus, FeedHost {
  state: ConnectionState = 'closed';
  error: GatewayError | undefined;
  readonly #transport: ClientTransport;
  readonly #listeners = new Listeners<[ConnectionState]>();
  readonly #feeds = new Map<string, Feed>();
  #link: Link | undefined;
  #heartbeatMs = DEFAULT_HEARTBEAT_MS;
  #heartbeats = 0;
  #lastSeen = 0;
  #attempt = 0;
  /** Runs the watchdog while there is a link, the back-off while there is none. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = this.#listeners.subscribe;

  constructor(transport: ClientTransport) {
    this.#transport = transport;
  }

  /** Feeds a reader until the returned function is called or its sink is ended. */
  follow(reader: Reader): () => void {
    const id = reader.sessionId;
    let feed = this.#feeds.get(id);
    if (!feed) {
      feed = new Feed(id, this);
      this.#feeds.set(id, feed);
    }
    const joined = feed;
    joined.add(reader);
    if (this.state === 'closed') {
      this.#become('connecting');
      // What is followed in the same turn travels in the first request.
      queueMicrotask(() => this.state === 'connecting' && !this.#link && this.#open());
    }
    return () => {
      if (!joined.readers.delete(reader)) return;
      if ([...this.#feeds.values()].every((other) => other.readers.size === 0)) this.stop();
      else joined.pump();
    };
  }

  get wire(): Link | undefined {
    return this.state === 'open' ? this.#link : undefined;
  }

  /** Ends the link and every reader. Following again opens a new one. */
  stop(error?: GatewayError): void {
    const feeds = [...this.#feeds.values()];
    this.#feeds.clear();
    this.#unlink();
    this.#attempt = 0;
    this.#become('closed', error);
    for (const feed of feeds) feed.end(error);
  }

  cut(error?: GatewayError): void {
    this.#closed({ ...(error && { error }) });
  }

  refused(feed: Feed, error: GatewayError): void {
    if (!isFinal(error)) return this.cut(error);
    this.drop(feed, error);
    feed.end(error);
  }

  drop(feed: Feed, error?: GatewayError): void {
    this.#feeds.delete(feed.id);
    if (this.#feeds.size === 0) this.stop(error);
  }

  #become(state: ConnectionState, error?: GatewayError): void {
    const changed = state !== this.state || error !== this.error;
    this.state = state;
    this.error = error;
    if (changed) this.#listeners.emit(state);
  }

  #unlink(): void {
    clearTimeout(this.#timer);
    const link = this.#link;
    this.#link = undefined;
    link?.close();
  }

  /** @param apart Opens the link empty and adds each session by itself, so that a refusal meets only its own session. */
  #open(apart = false): void {
    const targets = [];
    for (const feed of this.#feeds.values()) {
      if (feed.readers.size === 0) this.#feeds.delete(feed.id);
      const target = apart ? undefined : feed.nextTarget();
      if (target) targets.push(target);
    }
    this.#heartbeats = 0;
    const link = this.#transport.open(targets, {
      onEvent: (event) => this.#link === link && this.#receive(event),
      onClose: (end) => this.#link === link && this.#closed(end, apart),
    });
    this.#link = link;
    this.#lastSeen = Date.now();
    this.#watch();
  }

  #watch(): void {
    const leftMs = this.#lastSeen + this.#heartbeatMs * SILENT_HEARTBEATS - Date.now();
    if (leftMs > 0) this.#timer = quietTimer(leftMs, () => this.#watch());
    else this.cut(new GatewayError({ code: 'NETWORK', message: 'The gateway fell silent' }));
  }

  #closed({ error, retryMs }: LinkEnd, apart = false): void {
    this.#unlink();
    for (const feed of this.#feeds.values()) feed.reset();
    if (error && isFinal(error)) {
      if (apart || this.#feeds.size < 2) return this.stop(error);
      return this.#open(true);
    }
    const waitMs = backoff(this.#attempt++, retryMs ?? error?.retryAfterMs);
    // Not a quiet timer: somebody awaits what comes next.
    this.#timer = setTimeout(() => this.#open(), waitMs);
    this.#become('reconnecting', error);
  }

  /** Finds a session also by the canonical form of its key: the bare name, for a session of the default app. */
  #feed(id: string | undefined): Feed | undefined {
    const feed = this.#feeds.get(id!);
    return feed ?? [...this.#feeds.values()].find((other) => other.id.endsWith(`:${id}`));
  }

  #receive(event: GatewayEvent): void {
    this.#lastSeen = Date.now();
    switch (event.type) {
      case 'connected':
        this.#heartbeatMs = event.heartbeatMs;
        this.#become('open');
        for (const [id, info] of Object.entries(event.sessions)) this.#feed(id)?.placed(info);
        for (const feed of [...this.#feeds.values()]) feed.pump();
        break;
      case 'subscribed':
        this.#feed(event.sessionId)?.placed(event);
        break;
      case 'heartbeat': {
        // The first one belongs to the opening; the second proves that the link lasts.
        if (this.#heartbeats++ > 0) this.#attempt = 0;
        const { sessionId = '', cursor = '' } = event;
        for (const [id, at] of parseVector(cursor) ?? [[sessionId, cursor] as const])
          this.#feed(id)?.mark(placeOf(at));
        break;
      }
      default:
        if (this.#feed(event.sessionId)?.take(event)) this.#attempt = 0;
    }
  }
}

/** Whether the same request would be refused again. */
function isFinal({ code, status }: GatewayError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429 && code !== 'CONNECTION_NOT_FOUND';
}
