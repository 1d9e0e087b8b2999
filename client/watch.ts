import type { SessionState } from '../shared/fold.js';
import type { Core } from './run.js';
import { openScope, within } from './timing.js';
import { createView, findView, stateOf, type WatchChange, type WatchState } from './view.js';

/**
 * A session's state as it changes; fits `useSyncExternalStore`, effects and server rendering. It opens with its first subscriber and
 * closes a second after its last, and may be subscribed again: it goes on from where it was. All watches of a session share one.
 */
export interface Watch {
  /** The same object until something changes. Without a subscriber, the last state there was. */
  readonly getSnapshot: () => WatchState;
  /** The state it began with, which a server has rendered; the same object for ever. The third of `useSyncExternalStore`. */
  readonly getServerSnapshot: () => WatchState;
  /**
   * Calls the listener after each change, `delta` for a piece of text, which come many a second. Returns what stops it. What a listener
   * throws is reported as an uncaught error and harms nobody.
   */
  readonly subscribe: (listener: (change: WatchChange) => void) => () => void;
  /**
   * Puts a page of older messages before those shown, if there are any (`hasMore`). Calls at the same time share one.
   *
   * @param limit Messages of a page. @default 50
   */
  readonly loadEarlier: (limit?: number) => Promise<void>;
  /** Begins again after `status` became `error`, or the client was disconnected. */
  readonly retry: () => void;
}

/** @param stops Gets what ends each subscription. */
export function createWatch(
  core: Core,
  sessionId: string,
  from: SessionState | undefined,
  stops: Set<() => void>,
): Watch {
  let view = createView(core, sessionId, from);
  const first = view.current();
  // Another one that is live knows more than this one.
  const present = () => {
    view = findView(core, sessionId) ?? view;
    return view;
  };
  return {
    getSnapshot: () => present().current(),
    getServerSnapshot: () => first,
    subscribe: (listener) => {
      const unsubscribe = present().subscribe(listener);
      const stop = () => {
        stops.delete(stop);
        unsubscribe();
      };
      stops.add(stop);
      return stop;
    },
    loadEarlier: (limit) => present().loadEarlier(limit),
    retry: () => present().retry(),
  };
}

/** The state as soon as it is known. @throws GatewayError why it will not be, `ABORTED` by the signal */
export function loadState(core: Core, sessionId: string, signal?: AbortSignal): Promise<SessionState> {
  const view = findView(core, sessionId) ?? createView(core, sessionId, undefined);
  let stop = () => {};
  return within(
    openScope(signal, core.aborts),
    () =>
      new Promise<SessionState>((resolve, reject) => {
        const look = () => {
          const current = view.current();
          if (current.error) reject(current.error);
          else if (current.status !== 'loading') resolve(stateOf(current));
        };
        stop = view.subscribe(look);
        look();
      }),
  ).finally(() => stop());
}
