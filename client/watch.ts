import type { SessionState } from '../shared/fold.js';
import type { Core } from './run.js';
import { openScope, within } from './timing.js';
import type { ClientState } from './typed-events.js';
import { createView, findView, stateOf, type WatchChange, type WatchState } from './view.js';

/**
 * A session's state as it changes; fits `useSyncExternalStore`, effects and server rendering. It opens with its first subscriber and closes a second
 * after its last. It may be subscribed again, and goes on from its place. All watches of a session share one.
 */
export interface Watch<Source = unknown> {
  /** The same object until something changes. Without a subscriber, the last known state. */
  readonly getSnapshot: () => ClientState<Source, WatchState>;
  /** The state at the beginning, as a server has rendered it; always the same object. The third argument of `useSyncExternalStore`. */
  readonly getServerSnapshot: () => ClientState<Source, WatchState>;
  /**
   * Calls the listener after each change; `delta` marks a piece of text, many of which come a second. Returns a function that removes it. An error of
   * a listener is reported as an uncaught error and stops nothing.
   */
  readonly subscribe: (listener: (change: WatchChange) => void) => () => void;
  /**
   * Puts a page of older messages before the shown ones, if there are any (`hasMore`). Calls at the same time share one page.
   *
   * @param limit Messages of a page. @default 50
   */
  readonly loadEarlier: (limit?: number) => Promise<void>;
  /** Begins again after `status` became `error`, or the client was disconnected. */
  readonly retry: () => void;
}

/** @param stops Receives a function that ends each subscription. */
export function createWatch(
  core: Core,
  sessionId: string,
  from: SessionState | undefined,
  stops: Set<() => void>,
): Watch {
  core.person.look();
  let view = createView(core, sessionId, from);
  const first = view.current();
  // Another live view knows more than this one.
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

/** The state as soon as it is known. @throws GatewayError the reason why it will not be known, `ABORTED` by the signal */
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
