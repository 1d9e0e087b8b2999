import type { EventOf, GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { UserName } from '../shared/user-name.js';
import type { SessionConsumer } from './reader.js';
import { backoff, createWatchdog, inTime, quietTimer } from './timing.js';
import { createTrack, type Track } from './track.js';
import { addressOf, broken, failed, silence, unreachable } from './transport/failure.js';
import type { ClientTransport, Link, LinkEnd, SubscriptionChange } from './transport/transport.js';

export type LineState = 'connecting' | 'open' | 'reconnecting' | 'closed';

/** The callbacks of a line to its owner. */
export interface LineHost {
  changed?(state: LineState, error?: GatewayError): void;
  /** Nothing more will come for these readers. */
  ended(readers: readonly SessionConsumer[], error?: GatewayError): void;
  /** A reader wants events that its track no longer keeps. It stays among the track's readers. */
  behind?(reader: SessionConsumer): unknown;
  /** A session's cursor has moved. */
  moved?(): void;
  /** The gateway names the user of a link. Returns whether that is another one than before, so that the link is of no use. */
  met(user: UserName): boolean;
  /** Whether nobody would notice if the line broke now. */
  isSpare?(): boolean;
}

/** Sessions over one link at a time, which is opened again when it breaks. */
export interface SessionLine {
  /** The gateway's id of its last connection. */
  id(): string | undefined;
  /** The readers of all its sessions. */
  readers(): SessionConsumer[];
  /** The track of a session, made if it is new. `pull` then asks for it. */
  track(id: string): Track;
  /** The track of a session, if it exists. */
  find(id: string): Track | undefined;
  /** The form of a session's key that the gateway writes; `id` itself before the first connection. */
  canonical(id: string): string;
  /** Asks for sessions that are read and not followed yet, drops those that nobody reads, and opens a link if there is none. */
  pull(): void;
  /** Ends a back-off. */
  hurry(): void;
  /** Has a new link replace the present one, which goes on until then. */
  renew(): void;
  /** Renews a link that has been silent for a while. */
  check(): void;
  /** Lets the link go and keeps the place in every session; `pull` comes back. */
  pause(): void;
  /** Begins again for the same readers, and with nothing else of what was known. Closed until `pull`. */
  reset(): void;
  /** Ends the link and every reader. */
  stop(error?: GatewayError): void;
}

/** @param connectMs Milliseconds for a link to be connected, and for a subscription to be answered. */
export function createLine(transport: ClientTransport, host: LineHost, connectMs: number): SessionLine {
  const tracks = new Map<string, Track>();
  let state: LineState = 'closed';
  /** The current link, and the next one that is to replace it once connected. */
  let link: Link | undefined;
  let next: Link | undefined;
  /** The sessions that the link was asked for. */
  let asked = new Set<string>();
  /** A change of the asked sessions is on its way. Only one is sent at a time, since two could overtake each other. */
  let isAsking = false;
  /** Sessions are asked for one by one, so that a refusal affects only its own session. */
  let isApart = false;
  let tried = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let renewals = 0;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let defaultApp: string | undefined;
  let connectionId: string | undefined;
  const watchdog = createWatchdog(() => closed({ error: silence(addressOf(transport)) }));

  const become = (now: LineState, error?: GatewayError) => {
    state = now;
    host.changed?.(state, error);
  };
  const unlink = () => {
    clearTimeout(timer);
    clearTimeout(renewal);
    watchdog.stop();
    const links = [link, next];
    link = next = undefined;
    isAsking = false;
    for (const each of links) each?.close();
    for (const track of tracks.values()) track.unlink();
  };
  const readers = () => [...tracks.values()].flatMap((track) => [...track.readers]);
  const stop = (error?: GatewayError) => {
    const ended = readers();
    unlink();
    tracks.clear();
    tried = 0;
    isApart = false;
    become('closed', error);
    host.ended(ended, error);
  };

  const canonical = (id: string) => {
    const [app, name, more] = id.split(':');
    return app === defaultApp && name && more === undefined ? name : id;
  };
  const trackOf = (id: string) => {
    const name = canonical(id);
    let track = tracks.get(name);
    if (!track) {
      track = createTrack(name, host.behind);
      tracks.set(name, track);
      asked.delete(name);
    }
    return track;
  };

  const open = () => {
    clearTimeout(timer);
    watchdog.start(connectMs);
    try {
      link = dial();
    } catch (cause) {
      closed({ error: unreachable(addressOf(transport), cause) });
    }
  };
  const dial = (): Link => {
    drop();
    const targets = isApart ? [] : [...tracks.values()].map((track) => track.target());
    const own: Link = transport.open(targets, {
      onEvent: (event) => {
        if (own === next && event.type === 'connected') {
          const old = link;
          link = own;
          next = undefined;
          clearTimeout(renewal);
          renewals = 0;
          isAsking = false;
          for (const track of tracks.values()) track.unlink();
          old?.close();
        }
        if (own === link) receive(event);
      },
      onProgress: () => own === link && watchdog.heard(),
      onStale: () => own === link && renew(),
      onClose: (end) => {
        // The old link goes on, even if it may be dead.
        if (own === next) {
          next = undefined;
          clearTimeout(renewal);
          if (!end.error || !isFinal(end.error)) renewAfter(backoff(renewals++, end.retryMs));
        } else if (own === link) closed(end);
      },
    });
    return own;
  };
  const renew = () => {
    if (state !== 'open') return hurry();
    next?.close();
    clearTimeout(renewal);
    try {
      next = dial();
      renewAfter(connectMs);
    } catch {
      // The present link goes on.
    }
  };
  const renewAfter = (ms: number) => {
    renewal = quietTimer(ms, renew);
  };
  const hurry = () => {
    if (state === 'reconnecting' && !link) open();
  };
  const closed = ({ error, retryMs }: LinkEnd) => {
    if (host.isSpare?.()) return stop();
    unlink();
    if (error && isFinal(error)) {
      if (isApart || tracks.size < 2) return stop(error);
      isApart = true;
      return open();
    }
    // Not a quiet timer: somebody awaits the next event.
    timer = setTimeout(open, backoff(tried++, retryMs ?? error?.retryAfterMs));
    become('reconnecting', error);
  };

  /** Drops the tracks that nobody reads any more. */
  const drop = () => {
    for (const { id, readers } of tracks.values()) if (readers.size === 0) tracks.delete(id);
  };
  const ask = async (): Promise<void> => {
    if (state !== 'open' || isAsking || host.isSpare?.()) return;
    drop();
    const on = link!;
    const add = [...tracks.values()].filter(({ id }) => !asked.has(id));
    const remove = [...asked].filter((id) => !tracks.has(id));
    if (add.length + remove.length === 0) {
      isApart = false;
      return;
    }
    const change = async (part: SubscriptionChange, added: readonly Track[]) => {
      try {
        // Without a limit, a lost answer would leave its readers waiting for ever on a stream that looks well.
        const late = () => broken(addressOf(transport), 'a subscription was not answered');
        await inTime(connectMs, late, () => on.subscribe(part));
      } catch (cause) {
        const error = failed(transport, 'subscribe', cause);
        if (on !== link || added.length === 0) return;
        if (!isFinal(error)) return closed({ error });
        if (added.length > 1) {
          isApart = true;
          for (const { id } of added) asked.delete(id);
          return;
        }
        const [track] = added;
        if (tracks.get(track!.id) === track) tracks.delete(track!.id);
        host.ended([...track!.readers], error);
        if (tracks.size === 0) stop(error);
      }
    };
    const changes: Promise<void>[] = [];
    asked = new Set(tracks.keys());
    isAsking = true;
    if (remove.length > 0) changes.push(change({ remove }, []));
    for (const part of isApart ? add.map((track) => [track]) : add.length > 0 ? [add] : [])
      changes.push(change({ add: part.map((track) => track.target()) }, part));
    await Promise.all(changes);
    if (on !== link) return;
    isAsking = false;
    return ask();
  };

  const placed = (track: Track, info: SubscriptionInfo) => {
    if (track.placed(info)) host.moved?.();
    else {
      track.unlink();
      asked.delete(track.id);
    }
  };
  const connected = (event: EventOf<'connected'>) => {
    const { heartbeatMs, defaultApp: app, connectionId: id, sessions, user } = event;
    if (host.met(user)) return;
    if (transport.isGuarded) watchdog.stop();
    else watchdog.expect(heartbeatMs);
    defaultApp = app;
    connectionId = id;
    asked = new Set(Object.keys(sessions));
    for (const track of [...tracks.values()]) {
      const { id, readers } = track;
      const name = canonical(id);
      if (name === id) continue;
      // Two spellings of one session were asked for. Only one more request tells where it starts.
      tracks.delete(id);
      for (const reader of readers) trackOf(name).add(reader);
      asked.delete(name);
    }
    for (const id of [...asked]) {
      const track = tracks.get(id);
      if (track) placed(track, sessions[id]!);
    }
    become('open');
    void ask();
  };
  const receive = (event: GatewayEvent) => {
    watchdog.heard();
    if (event.type === 'connected') return connected(event);
    let works: boolean | undefined = false;
    if (event.type === 'heartbeat') works = watchdog.beat();
    else {
      const track = tracks.get(event.sessionId!);
      if (!track) return;
      if (event.type === 'subscribed') {
        placed(track, event);
        return void ask();
      }
      works = track.take(event);
      if (works === undefined) return closed({});
      if (works) host.moved?.();
    }
    if (!works) return;
    // Earlier failures no longer count.
    tried = 0;
    watchdog.works();
  };

  return {
    readers,
    id: () => connectionId,
    track: trackOf,
    find: (id) => tracks.get(canonical(id)),
    canonical,
    pull: () => {
      if (state === 'closed') {
        become('connecting');
        // Sessions that are followed in the same turn travel in the first request.
        queueMicrotask(() => state === 'connecting' && !link && open());
      } else void ask();
    },
    hurry,
    renew,
    check: () => (watchdog.isCalm() ? hurry() : renew()),
    pause: () => {
      unlink();
      state = 'closed';
    },
    reset: () => {
      const all = readers();
      unlink();
      state = 'closed';
      tracks.clear();
      for (const reader of all) {
        reader.feeder = undefined;
        trackOf(reader.sessionId).add(reader);
      }
    },
    stop,
  };
}

/** Whether the gateway itself refused, so that it would refuse the same request again. */
export function isFinal({ code, status, retryable }: GatewayError): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !retryable &&
    ![408, 429].includes(status) &&
    code !== 'CONNECTION_NOT_FOUND'
  );
}
