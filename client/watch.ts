import type { SessionState } from '../shared/fold.js';
import type { Core } from './run.js';
import { View, type WatchChange, type WatchState } from './view.js';

/**
 * A session's state as it changes; fits `useSyncExternalStore`, effects and server rendering. It opens with its first subscriber and
 * closes a second after its last, and may be subscribed again: it goes on from where it was. All watches of a session share one.
 */
export interface Watch {
  /** The same object until something changes. Without a subscriber, the last state there was. */
  readonly getSnapshot: () => WatchState;
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
  /** Begins again after `status` became `error`. */
  readonly retry: () => void;
}

/** @param stops Gets what ends each subscription. */
export function createWatch(
  core: Core,
  sessionId: string,
  from: SessionState | undefined,
  stops: Set<() => void>,
): Watch {
  let view = new View(core, sessionId, from);
  // Another one that is live knows more than this one.
  const present = () => {
    view = core.views.find(sessionId) ?? view;
    return view;
  };
  return {
    getSnapshot: () => present().current,
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
