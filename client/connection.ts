import type { GatewayError } from '../shared/gateway-error.js';
import { Line, type LineState } from './line.js';
import { Listeners } from './listeners.js';
import { isHidden, watchPage } from './page.js';
import type { Reader } from './reader.js';
import { quietTimer } from './timing.js';
import type { Track } from './track.js';
import type { ClientTransport } from './transport/transport.js';

/**
 * `closed` also before the first use and a few seconds after the last. `paused`: the page is hidden, and everything goes on from its
 * place when it is shown.
 */
export type ConnectionState = 'connecting' | 'open' | 'reconnecting' | 'paused' | 'closed';

/** What a program may know of its client's connection. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** Why it is `closed` for good, or what `reconnecting` is waiting out. */
  readonly error: GatewayError | undefined;
  /** Calls the listener after each change. Returns what stops it. */
  subscribe(listener: (state: ConnectionState) => void): () => void;
}

export interface ConnectionOptions {
  /** Milliseconds for a link to be connected, and for a subscription to be answered. */
  readonly connectMs: number;
  /** Milliseconds a page is hidden before it lets its stream go; undefined for never. */
  readonly hiddenMs: number | undefined;
}

/** How long the link outlives its last listener, so that one send after another needs no new one. */
const LINGER_MS = 5000;

const STATES: Readonly<Record<LineState, ConnectionState>> = {
  idle: 'closed',
  connecting: 'connecting',
  open: 'open',
  reconnecting: 'reconnecting',
};

/**
 * The readers of a client and what feeds them: one line for all sessions, whose cursors only move forward, and a line apart for each
 * reader that is further behind than the track remembers, until it has caught up.
 */
export class Connection implements ConnectionStatus {
  state: ConnectionState = 'closed';
  error: GatewayError | undefined;
  readonly #transport: ClientTransport;
  readonly #options: ConnectionOptions;
  readonly #listeners = new Listeners<[ConnectionState]>();
  readonly #main: Line;
  readonly #apart = new Map<Reader, Line>();
  #unwatchPage: (() => void) | undefined;
  #linger: ReturnType<typeof setTimeout> | undefined;
  #hide: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = this.#listeners.subscribe;

  constructor(transport: ClientTransport, options: ConnectionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#main = new Line(
      transport,
      {
        changed: (state, error) => this.#become(STATES[state], error),
        ended: (readers, error) => {
          for (const reader of readers) this.#endReader(reader, error);
        },
        fetch: (track, reader) => this.#fetch(track, reader),
        isSpare: () => this.#readers().length === 0,
      },
      options.connectMs,
    );
  }

  /** Feeds a reader until the returned function is called or its sink is ended. */
  follow(reader: Reader): () => void {
    clearTimeout(this.#linger);
    this.#unwatchPage ??= watchPage({
      changed: () => this.#each((line) => line.renew()),
      shown: () => {
        clearTimeout(this.#hide);
        if (this.state === 'paused') this.#main.pull();
        this.#each((line) => line.check());
      },
      hidden: () => this.#mayPause(),
    });
    this.#main.track(reader.sessionId).add(reader);
    if (this.state !== 'paused' || reader.isUrgent) this.#main.pull();
    if (isHidden()) this.#mayPause();
    return () => this.#leave(reader);
  }

  /** The iterator of a reader has room again. */
  drained(reader: Reader): void {
    const track = this.#main.find(reader.sessionId);
    if (!reader.feeder && track?.readers.has(reader)) track.serve(reader);
  }

  /** The one form of a session's key that the gateway writes, as far as it is known. */
  canonical(id: string): string {
    return this.#main.canonical(id);
  }

  /** The run of a session that is active, null for none; undefined where that is not known here. */
  activeRun(id: string): string | null | undefined {
    return this.state === 'open' ? this.#main.find(id)?.activeRun : undefined;
  }

  /** The gateway can be reached: whoever waits to try again need not. */
  hurry(): void {
    this.#each((line) => line.hurry());
  }

  /** Ends the link and every reader. Following again opens a new one. */
  stop(): void {
    this.#main.stop();
  }

  #leave(reader: Reader): void {
    this.#apart.get(reader)?.stop();
    this.#apart.delete(reader);
    const track = this.#main.find(reader.sessionId);
    if (!track?.readers.delete(reader)) return;
    if (this.#readers().length > 0) {
      this.#main.leave(track);
      this.#mayPause();
    } else if (this.state === 'open') this.#linger = quietTimer(LINGER_MS, () => this.stop());
    else this.stop();
  }

  #readers(): Reader[] {
    return [...this.#main.tracks.values()].flatMap((track) => [...track.readers]);
  }

  #each(run: (line: Line) => void): void {
    if (this.state === 'paused') return;
    for (const line of [this.#main, ...this.#apart.values()]) run(line);
  }

  #endReader(reader: Reader, error: GatewayError | undefined): void {
    const line = this.#apart.get(reader);
    this.#apart.delete(reader);
    line?.stop();
    reader.feeder = undefined;
    reader.sink.end(error);
  }

  /** A line of its own for a reader that is behind, until the track can go on with it. */
  #fetch(track: Track, reader: Reader): void {
    const former = this.#apart.get(reader);
    this.#apart.delete(reader);
    former?.stop();
    const merge = () => {
      if (this.#apart.get(reader) !== line) return;
      // Paused by its iterator, which says when it goes on.
      const isPaused = reader.feeder !== aside;
      if (!isPaused && !track.covers(reader)) return;
      this.#apart.delete(reader);
      line.stop();
      if (!isPaused) track.serve(reader);
    };
    const line: Line = new Line(
      this.#transport,
      {
        changed: () => {},
        ended: ([mine], error) => {
          if (!mine || this.#apart.get(reader) !== line) return;
          track.readers.delete(reader);
          this.#endReader(reader, error);
        },
        // The only reader there is always where the wire is.
        fetch: () => {},
        moved: merge,
      },
      this.#options.connectMs,
    );
    this.#apart.set(reader, line);
    const aside = line.track(track.id);
    aside.add(reader);
    line.pull();
  }

  #mayPause(): void {
    const { hiddenMs } = this.#options;
    clearTimeout(this.#hide);
    if (hiddenMs === undefined || !this.#transport.isScarce || !isHidden() || this.state === 'closed') return;
    this.#hide = quietTimer(hiddenMs, () => {
      // The end of a run is waited for, hidden or not.
      if (!isHidden() || this.#readers().some(({ isUrgent }) => isUrgent)) return;
      for (const [reader, line] of this.#apart) {
        this.#apart.delete(reader);
        line.stop();
        reader.feeder = undefined;
      }
      this.#main.pause();
      this.#become('paused');
    });
  }

  #become(state: ConnectionState, error?: GatewayError): void {
    if (state === 'closed') {
      clearTimeout(this.#linger);
      clearTimeout(this.#hide);
      this.#unwatchPage?.();
      this.#unwatchPage = undefined;
    }
    const changed = state !== this.state || error !== this.error;
    this.state = state;
    this.error = error;
    if (changed) this.#listeners.emit(state);
  }
}
