import type { GatewayEvent } from '../shared/events.js';
import { GatewayError } from '../shared/gateway-error.js';
import { Feed, type FeedHost } from './feed.js';
import { Listeners } from './listeners.js';
import type { Reader } from './reader.js';
import { backoff, quietTimer } from './timing.js';
import type { ClientTransport, Link, LinkEnd } from './transport/transport.js';

/** `closed` also before the first use and a few seconds after the last. */
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
/** How long the link outlives its last listener, so that one send after another needs no new one. */
const LINGER_MS = 5000;

/** The one link of a client: opened when somebody listens, kept open a little longer, resumed wherever it broke. */
export class Connection implements ConnectionStatus, FeedHost {
  state: ConnectionState = 'closed';
  error: GatewayError | undefined;
  readonly #transport: ClientTransport;
  readonly #listeners = new Listeners<[ConnectionState]>();
  readonly #feeds = new Map<string, Feed>();
  #link: Link | undefined;
  #heartbeatMs = DEFAULT_HEARTBEAT_MS;
  #lastSeen = 0;
  #attempt = 0;
  #defaultApp: string | undefined;
  #linger: ReturnType<typeof setTimeout> | undefined;
  /** Runs the watchdog while there is a link, the back-off while there is none. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = this.#listeners.subscribe;

  constructor(transport: ClientTransport) {
    this.#transport = transport;
  }

  /** Feeds a reader until the returned function is called or its sink is ended. */
  follow(reader: Reader): () => void {
    this.#unlinger();
    this.#join(reader);
    if (this.state === 'closed') {
      this.#become('connecting');
      // What is followed in the same turn travels in the first request.
      queueMicrotask(() => this.state === 'connecting' && !this.#link && this.#open());
    }
    return () => {
      const feed = this.#feeds.get(this.#canonical(reader.sessionId));
      if (!feed?.readers.delete(reader)) return;
      if ([...this.#feeds.values()].some((other) => other.readers.size > 0)) feed.pump();
      else if (this.wire) this.#linger = quietTimer(LINGER_MS, () => this.stop());
      else this.stop();
    };
  }

  #join(reader: Reader): Feed {
    const id = this.#canonical(reader.sessionId);
    const feed = this.#feeds.get(id) ?? new Feed(id, this);
    this.#feeds.set(id, feed);
    feed.add(reader);
    return feed;
  }

  /** The one form of a session's key that the gateway writes; as it is, before the first connection. */
  #canonical(id: string): string {
    const [app, name, more] = id.split(':');
    return app === this.#defaultApp && name && more === undefined ? name : id;
  }

  #unlinger(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
  }

  get lingers(): boolean {
    return this.#linger !== undefined;
  }

  get wire(): Link | undefined {
    return this.state === 'open' ? this.#link : undefined;
  }

  /** Ends the link and every reader. Following again opens a new one. */
  stop(error?: GatewayError): void {
    const feeds = [...this.#feeds.values()];
    this.#feeds.clear();
    this.#unlinger();
    this.#unlink();
    this.#attempt = 0;
    this.#become('closed', error);
    for (const feed of feeds) feed.end(error);
  }

  cut(error?: GatewayError): void {
    this.#closed({ error });
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
    if (leftMs > 0) {
      this.#timer = quietTimer(leftMs, () => {
        // A link that has lasted this long was no failed attempt.
        this.#attempt = 0;
        this.#watch();
      });
    } else this.cut(new GatewayError({ code: 'NETWORK', message: 'No heartbeat' }));
  }

  #closed({ error, retryMs }: LinkEnd, apart = false): void {
    if (this.lingers) return this.stop();
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

  /** Two spellings may turn out to be one session: whoever is not where the gateway expects them asks anew. */
  #rename(): void {
    for (const feed of [...this.#feeds.values()]) {
      if (this.#canonical(feed.id) === feed.id) continue;
      this.#feeds.delete(feed.id);
      for (const reader of feed.readers) this.#join(reader).reset();
    }
  }

  #receive(event: GatewayEvent): void {
    this.#lastSeen = Date.now();
    switch (event.type) {
      case 'connected':
        this.#heartbeatMs = event.heartbeatMs;
        this.#defaultApp = event.defaultApp;
        this.#rename();
        this.#become('open');
        for (const [id, info] of Object.entries(event.sessions)) this.#feeds.get(id)?.placed(info);
        for (const feed of [...this.#feeds.values()]) feed.pump();
        break;
      case 'subscribed':
        this.#feeds.get(event.sessionId!)?.placed(event);
        break;
      case 'heartbeat':
        break;
      default:
        if (this.#feeds.get(event.sessionId!)?.take(event)) this.#attempt = 0;
    }
  }
}

/** Whether the same request would be refused again. */
function isFinal({ code, status }: GatewayError): boolean {
  return status >= 400 && status < 500 && ![408, 429].includes(status) && code !== 'CONNECTION_NOT_FOUND';
}
