import type { GatewayEvent } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { GatewayError } from '../../shared/gateway-error.js';
import type { SessionStatusResult } from '../../shared/operation-types.js';
import type { ReaderConnection } from '../connection.js';
import { watchPage } from '../page.js';
import type { ReaderSink } from '../reader.js';
import type { Core } from '../run.js';
import { quietTimer } from '../timing.js';
import { findView, stateOf } from '../view.js';
import type { PersistenceParts } from './persistence.js';

const STATE = 's:';
const INDEX = 'index';
const SAVE_MS = 500;
const SESSIONS = 50;
const MESSAGES = 50;

/** A state that was read from the disk. */
type KeptState = SessionState & { readonly stale?: true };

/** Keeps the states of shown sessions, and shows them before their gateway is reached. */
export function persistStates(core: Core, keeping: PersistenceParts): { stop(): void } {
  const { disk, options, attempt, soon, isOver, isForeign } = keeping;
  const { connection } = core;
  const waiting = new Map<string, ReturnType<typeof setTimeout>>();

  let known: Promise<Map<string, number>> | undefined;
  /** The time when each session was kept, the oldest first. */
  const readIndex = async (): Promise<Map<string, number>> => {
    const index = new Map(JSON.parse((await disk.get(INDEX)) ?? '[]') as [string, number][]);
    const keys = (await disk.keys()).filter((key) => key.startsWith(STATE)).map((key) => key.slice(2));
    // Two tabs may have written it at the same time.
    return new Map(
      keys.map((id): [string, number] => [id, index.get(id) ?? 0]).sort(([, a], [, b]) => a - b),
    );
  };
  const evict = async (index: Map<string, number>, most: number): Promise<void> => {
    for (const id of [...index.keys()].slice(0, Math.max(0, index.size - most))) {
      index.delete(id);
      await disk.delete(STATE + id);
    }
  };
  const save = (sessionId: string) => {
    clearTimeout(waiting.get(sessionId));
    waiting.delete(sessionId);
    const state = stateNow(core, sessionId);
    if (!state?.cursor || state.stale || isOver() || isForeign()) return;
    void attempt(async () => {
      const text = JSON.stringify(state);
      known ??= readIndex();
      const index = await known;
      try {
        await disk.set(STATE + sessionId, text);
      } catch {
        // The disk is full: drop the sessions that were shown longest ago.
        await evict(index, Math.floor(index.size / 2));
        await disk.set(STATE + sessionId, text);
      }
      index.delete(sessionId);
      index.set(sessionId, Date.now());
      await evict(index, options.sessions ?? SESSIONS);
      await disk.set(INDEX, JSON.stringify([...index]));
      if (isOver()) await disk.delete(STATE + sessionId);
    });
  };
  const saveAll = () => {
    for (const id of waiting.keys()) save(id);
  };
  const saveSoon = (sessionId: string) => {
    if (!waiting.has(sessionId))
      waiting.set(
        sessionId,
        quietTimer(SAVE_MS, () => save(sessionId)),
      );
  };

  /** The kept state of a session. A slow device gives none, so that it delays nobody. */
  const readState = (sessionId: string): Promise<KeptState | undefined> =>
    soon(async () => {
      const text = await disk.get(STATE + sessionId);
      const state = text ? (JSON.parse(text) as KeptState) : undefined;
      return state?.cursor ? state : undefined;
    });

  const follow: ReaderConnection['follow'] = (sessionId, start, sink) => {
    // Views report where they begin; plain iterations over events do not.
    if (!sink.begun || isOver() || isForeign()) return connection.follow(sessionId, start, sink);
    const saving: ReaderSink = {
      ...sink,
      take: (events) => {
        sink.take(events);
        saveSoon(sessionId);
      },
    };
    let isLeft = false;
    let unprove = () => {};
    let following: ReturnType<ReaderConnection['follow']> | undefined;
    const begin = (from: string) => {
      if (isLeft) return;
      const isOld = stateNow(core, sessionId)?.stale;
      const to = isOld ? proving(core, sessionId, saving) : { ...saving, stop: () => {} };
      unprove = to.stop;
      following = connection.follow(sessionId, from, to);
    };
    if (start !== 'snapshot') begin(start);
    else
      void readState(sessionId).then((state) => {
        if (state && !isLeft && !isForeign()) sink.take([snapshotOf(sessionId, { ...state, stale: true })]);
        begin((!isForeign() && state?.cursor) || start);
      });
    return {
      stop: () => {
        isLeft = true;
        unprove();
        following?.stop();
      },
      drained: () => following?.drained(),
    };
  };
  (core as { connection: ReaderConnection }).connection = Object.create(connection, {
    follow: { value: follow },
  });
  const unwatch = watchPage({ changed: () => {}, shown: () => {}, hidden: saveAll });
  return {
    stop: () => {
      unwatch();
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}

/** Marks a view's state as stale until it has all events up to the head that the gateway reported. */
function proving(
  core: Core,
  sessionId: string,
  sink: ReaderSink,
): ReaderSink & { readonly stop: () => void } {
  let place: SessionStatusResult | undefined;
  const prove = () => {
    stop();
    const { stale, ...proven } = stateNow(core, sessionId) ?? (initialState as KeptState);
    if (stale) sink.take([snapshotOf(sessionId, proven)]);
  };
  const look = () => {
    const state = stateNow(core, sessionId);
    if (!state?.stale) return stop();
    const [epoch, , seq] = state.cursor?.split('.') ?? [];
    // If the log was replaced, a gap says so, and a snapshot comes with it.
    if (!place || epoch !== place.epoch) return;
    if (Number(seq) > place.head || state.cursor === place.cursor) prove();
  };
  const ask = () => {
    if (core.connection.state !== 'open') return;
    core.call('status', { sessionId }).then(
      (status) => {
        place = status as SessionStatusResult;
        look();
      },
      ({ code }: GatewayError) => {
        // A gateway may lack this route. Then it must be enough that it went on from this state.
        if (code === 'ROUTE_NOT_FOUND') prove();
      },
    );
  };
  const stop = core.connection.subscribe(ask);
  ask();
  return {
    ...sink,
    stop,
    take: (events) => {
      sink.take(events);
      look();
    },
  };
}

const snapshotOf = (sessionId: string, state: KeptState): GatewayEvent => ({
  type: 'snapshot',
  sessionId,
  ...(state.cursor && { cursor: state.cursor }),
  state,
});

/** The state in a session's view, without the pages of older messages. */
function stateNow(core: Core, sessionId: string): KeptState | undefined {
  const view = findView(core, sessionId);
  if (!view) return undefined;
  const state = stateOf(view.current());
  const messages = state.messages.slice(-MESSAGES);
  return { ...state, messages, hasMore: state.hasMore || messages.length < state.messages.length };
}
