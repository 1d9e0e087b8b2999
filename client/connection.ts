import type { GatewayError } from '../shared/gateway-error.js';
import { createLine, type LineHost, type SessionLine } from './line.js';
import { createListeners } from './listeners.js';
import { isHidden, watchPage } from './page.js';
import { placeOf, type ReaderSink, type SessionConsumer, type Start } from './reader.js';
import { quietTimer } from './timing.js';
import type { ClientTransport } from './transport/transport.js';

/**
 * `closed` also before the first use and a few seconds after the last. `paused`: the page is hidden; reading goes on from its place when the page is
 * shown.
 */
export type ConnectionState = 'connecting' | 'open' | 'reconnecting' | 'paused' | 'closed';

/** The state of a client's connection. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** The reason for `closed` if it is final, or the failure that `reconnecting` waits out. */
  readonly error: GatewayError | undefined;
  /** The gateway's id of the last connection. */
  readonly id: string | undefined;
  /** Calls the listener after each change. Returns a function that removes it. */
  subscribe(listener: (state: ConnectionState) => void): () => void;
}

export interface ReaderConnectionOptions {
  /** Limit in milliseconds for connecting a link, and for the answer to a subscription. */
  readonly connectMs: number;
  /** Milliseconds after which a hidden page lets its stream go; `false` never does. */
  readonly hiddenMs: number | false;
  readonly met: LineHost['met'];
}

/** The link outlives its last listener so long, so that the next send needs no new one. */
const LINGER_MS = 5000;

/** The readers of a client, and the links that feed them. */
export interface ReaderConnection extends ConnectionStatus {
  /** Feeds a sink with the events of a session, beginning at a start. */
  follow(sessionId: string, start: Start, sink: ReaderSink): FollowHandle;
  /** The form of a session's key that the gateway writes, or `id` as long as that is unknown. */
  canonical(id: string): string;
  /** The active run of a session; null for none, undefined if it is not known here. */
  activeRun(id: string): string | null | undefined;
  /** The gateway can be reached: ends all waits for the next attempt. */
  hurry(): void;
  /** Has new links replace the present ones, which go on until then. */
  renew(): void;
  /** Begins again for another person, with the same readers. */
  restart(): void;
  /** Ends the link and every reader. Following again opens a new one. */
  stop(): void;
}

/** A sink that is being fed. */
export interface FollowHandle {
  stop(): void;
  /** There is room again. */
  drained(): void;
}

/**
 * One line serves all sessions; its cursors only move forward. A reader that is further behind than its track remembers gets a line of its own until
 * it has caught up.
 */
export function createConnection(
  transport: ClientTransport,
  { connectMs, hiddenMs, met }: ReaderConnectionOptions,
): ReaderConnection {
  const listeners = createListeners<[ConnectionState]>();
  const apart = new Map<SessionConsumer, SessionLine>();
  let state: ConnectionState = 'closed';
  let error: GatewayError | undefined;
  let unwatchPage: (() => void) | undefined;
  let linger: ReturnType<typeof setTimeout> | undefined;
  let hide: ReturnType<typeof setTimeout> | undefined;

  const become = (now: ConnectionState, cause?: GatewayError) => {
    if (now === 'closed') {
      clearTimeout(linger);
      clearTimeout(hide);
      unwatchPage?.();
      unwatchPage = undefined;
    }
    const changed = now !== state || cause !== error;
    state = now;
    error = cause;
    if (changed) listeners.emit(state);
  };
  const rejoin = (reader: SessionConsumer) => {
    const line = apart.get(reader);
    apart.delete(reader);
    line?.stop();
    reader.feeder = undefined;
  };
  const endReaders = (ended: readonly SessionConsumer[], cause?: GatewayError) => {
    for (const reader of ended) {
      main.find(reader.sessionId)?.readers.delete(reader);
      rejoin(reader);
      reader.sink.end(cause);
    }
  };
  const main = createLine(
    transport,
    {
      changed: become,
      ended: endReaders,
      met,
      // A hidden page fetches it once it is shown.
      behind: (reader) => state !== 'paused' && fetchApart(reader),
      isSpare: () => main.readers().length === 0,
    },
    connectMs,
  );

  /** A line of its own for a reader that is behind, until its track can go on with it. */
  const fetchApart = (reader: SessionConsumer) => {
    rejoin(reader);
    const line = createLine(
      transport,
      {
        met,
        ended: (ended, cause) => {
          if (apart.get(reader) === line) endReaders(ended, cause);
        },
        moved: () => {
          if (apart.get(reader) !== line) return;
          const track = main.track(reader.sessionId);
          // Without a feeder it waits for its iterator, which says when it goes on.
          const isFed = reader.feeder === aside;
          if (isFed && !track.covers(reader)) return;
          rejoin(reader);
          if (isFed) track.add(reader);
        },
      },
      connectMs,
    );
    apart.set(reader, line);
    const aside = line.track(main.canonical(reader.sessionId));
    aside.add(reader);
    line.pull();
  };

  const each = (run: (line: SessionLine) => void) => {
    if (state !== 'paused') for (const line of [main, ...apart.values()]) run(line);
  };
  const renew = () => each((line) => line.renew());
  const mayPause = () => {
    clearTimeout(hide);
    if (hiddenMs === false || !transport.isScarce || !isHidden() || state === 'closed') return;
    hide = quietTimer(hiddenMs, () => {
      // Stay connected to wait for the end of a run, even if hidden.
      if (!isHidden() || main.readers().some(({ sink }) => sink.isUrgent)) return;
      for (const reader of apart.keys()) rejoin(reader);
      main.pause();
      become('paused');
    });
  };

  return {
    get state() {
      return state;
    },
    get error() {
      return error;
    },
    get id() {
      return main.id();
    },
    subscribe: listeners.subscribe,
    follow: (sessionId, start, sink) => {
      const reader: SessionConsumer = { sessionId, sink, start, at: placeOf(start), feeder: undefined };
      clearTimeout(linger);
      unwatchPage ??= watchPage({
        changed: renew,
        shown: () => {
          clearTimeout(hide);
          if (state === 'paused') main.pull();
          each((line) => line.check());
        },
        hidden: mayPause,
      });
      main.track(sessionId).add(reader);
      if (state !== 'paused' || sink.isUrgent) main.pull();
      if (isHidden()) mayPause();
      return {
        drained: () => {
          const track = main.find(sessionId);
          if (!reader.feeder) track?.serve(reader);
        },
        stop: () => {
          rejoin(reader);
          if (!main.find(sessionId)?.readers.delete(reader)) return;
          if (main.readers().length > 0) {
            if (state !== 'paused') main.pull();
            mayPause();
          } else if (state === 'open') linger = quietTimer(LINGER_MS, () => main.stop());
          else main.stop();
        },
      };
    },
    canonical: main.canonical,
    activeRun: (id) => (state === 'open' ? main.find(id)?.activeRun() : undefined),
    hurry: () => each((line) => line.hurry()),
    renew,
    restart: () => {
      for (const reader of apart.keys()) rejoin(reader);
      main.reset();
      if (main.readers().length === 0) main.stop();
      else if (state !== 'paused') main.pull();
    },
    stop: () => main.stop(),
  };
}
