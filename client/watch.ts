import { initialState, reduce, type SessionState } from '../shared/fold.js';
import type { GatewayError } from '../shared/gateway-error.js';
import { Listeners } from './listeners.js';
import type { SendingMessage } from './outbox.js';
import { Reader } from './reader.js';
import type { Core } from './run.js';

/** A session's state, with this client's sends that are not in it yet. */
export interface WatchState extends SessionState {
  readonly sending: readonly SendingMessage[];
  /** Why nothing more will come. */
  readonly error?: GatewayError;
}

/** A session's state as it changes; fits `useSyncExternalStore`. */
export interface Watch {
  /** The same object until something changes. */
  readonly getSnapshot: () => WatchState;
  /** Calls the listener after each change. Returns what stops it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Stops listening to the session. */
  readonly close: () => void;
}

/** Follows a session from a known state, or from the gateway's snapshot of it. */
export function startWatch({ connection, outbox }: Core, sessionId: string, from?: SessionState): Watch {
  const listeners = new Listeners();
  /** Sends this watch has seen in the session; the outbox drops them a moment later. */
  const acknowledged = new Set<string | undefined>();
  let state = from ?? initialState;
  let error: GatewayError | undefined;
  let view: WatchState = { ...state, sending: outbox.of(sessionId) };
  let shown = state;

  const refresh = () => {
    let sending: readonly SendingMessage[] = outbox.of(sessionId).filter(({ key }) => !acknowledged.has(key));
    if (sending.length === view.sending.length && sending.every((entry, at) => entry === view.sending[at])) {
      if (shown === state && view.error === error) return;
      sending = view.sending;
    }
    shown = state;
    view = { ...state, sending, ...(error && { error }) };
    listeners.emit();
  };
  const reader = new Reader(sessionId, from?.cursor ?? 'snapshot', {
    take: (events) => {
      for (const event of events) {
        state = reduce(state, event);
        if (event.type === 'message_accepted') acknowledged.add(event.key);
      }
      refresh();
      return true;
    },
    end: (reason) => {
      error = reason;
      refresh();
    },
  });
  const stops = [connection.follow(reader), outbox.listeners.subscribe(refresh)];
  return {
    getSnapshot: () => view,
    subscribe: listeners.subscribe,
    close: () => {
      for (const stop of stops) stop();
    },
  };
}
