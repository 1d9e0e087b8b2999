import type { EventOf, GatewayEvent, SubscriptionInfo } from '../shared/events.js';
import type { GatewayError } from '../shared/gateway-error.js';
import type { Reader } from './reader.js';
import { backoff, createWatchdog, inTime, quietTimer } from './timing.js';
import { createTrack, type Track } from './track.js';
import { addressOf, broken, failed, silence, unreachable } from './transport/failure.js';
import type { ClientTransport, Link, LinkEnd, SubscriptionChange } from './transport/transport.js';

export type LineState = 'connecting' | 'open' | 'reconnecting' | 'closed';

/** What a line tells its owner. */
export interface LineHost {
  changed?(state: LineState, error?: GatewayError): void;
  /** Nothing more will come for these readers. */
  ended(readers: readonly Reader[], error?: GatewayError): void;
  /** A reader wants what its track does not keep. It stays among the readers of that. */
  behind?(reader: Reader): unknown;
  /** A session's cursor has moved. */
  moved?(): void;
  /** Whether nobody would miss the line if it broke now. */
  isSpare?(): boolean;
}

/** Sessions over one link at a time, which is opened again wherever it breaks. */
export interface Line {
  /** Of its last connection, as the gateway calls it. */
  id(): string | undefined;
  /** Those of all its sessions. */
  readers(): Reader[];
  /** The session of an id, made where it is new: `pull` asks for it. */
  track(id: string): Track;
  /** The same, if it is there. */
  find(id: string): Track | undefined;
  /** The one form of a session's key that the gateway writes; as it is, before the first connection. */
  canonical(id: string): string;
  /** Asks for what is read and not brought yet, and lets go of what nobody reads; opens a link where there is none. */
  pull(): void;
  /** Ends a back-off. */
  hurry(): void;
  /** Has a new link take over from the present one, which goes on until then. */
  renew(): void;
  /** Renews a link that has been silent for a while. */
  check(): void;
  /** Lets the link go and keeps the place in every session; `pull` comes back. */
  pause(): void;
  /** Ends the link and every reader. */
  stop(error?: GatewayError): void;
}

/** @param connectMs Milliseconds for a link to be connected, and for a subscription to be answered. */
export function createLine(transport: ClientTransport, host: LineHost, connectMs: number): Line {
  const tracks = new Map<string, Track>();
  let state: LineState = 'closed';
  /** The link that counts, and one that is to take its place once it is connected. */
  let link: Link | undefined;
  let next: Link | undefined;
  /** The sessions that the link was asked for. */
  let asked = new Set<string>();
  /** A change of them is on its way. There is one at a time: they could overtake each other. */
  let isAsking = false;
  /** Sessions are asked for one by one, so that a refusal meets only its own. */
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
        // The old one goes on, dead as it may be.
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
      // The present one goes on.
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
    // Not a quiet timer: somebody awaits what comes next.
    timer = setTimeout(open, backoff(tried++, retryMs ?? error?.retryAfterMs));
    become('reconnecting', error);
  };

  /** Forgets what nobody reads any more. */
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
        // An answer that does not come would leave its readers waiting for ever, on a stream that looks well.
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
  const connected = ({ heartbeatMs, defaultApp: app, connectionId: id, sessions }: EventOf<'connected'>) => {
    if (transport.isGuarded) watchdog.stop();
    else watchdog.expect(heartbeatMs);
    defaultApp = app;
    connectionId = id;
    asked = new Set(Object.keys(sessions));
    for (const track of [...tracks.values()]) {
      const { id, readers } = track;
      const name = canonical(id);
      if (name === id) continue;
      // Two spellings of one session, which was asked for twice perhaps: where it starts, only one more question tells.
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
    // What failed before it counts no more.
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
        // What is followed in the same turn travels in the first request.
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
    stop,
  };
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
