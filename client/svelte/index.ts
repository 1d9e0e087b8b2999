import { createSubscriber } from 'svelte/reactivity';
import type { Client } from '../client.js';
import { type ConnectionHealth, healthOf } from '../hooks/health.js';
import {
  createSessionStore,
  type Observable,
  type SessionActions,
  type SessionOptions,
  type SessionViewOf,
} from '../hooks/session-store.js';

export type { ConnectionHealth } from '../hooks/health.js';
export type { SessionActions, SessionOptions, SessionView, SessionViewOf } from '../hooks/session-store.js';

/** A value that changes: `current` in runes and templates, `$value` as a store. It is followed while something shows it. */
export interface Live<T> {
  readonly current: T;
  /** The contract of Svelte's stores: calls back at once and after each change. */
  readonly subscribe: (run: (value: T) => void) => () => void;
}

/** A session as a live value, with its actions. */
export interface LiveSession<Source = unknown> extends Live<SessionViewOf<Source>>, SessionActions<Source> {}

function live<T>({ getSnapshot: read, subscribe }: Observable<T>): Live<T> {
  const track = createSubscriber(subscribe);
  return {
    get current() {
      track();
      return read();
    },
    subscribe: (run) => {
      // A component that a server renders subscribes to its stores and leaves them at once.
      if (typeof document === 'undefined') {
        run(read());
        return () => {};
      }
      let last: { readonly value: T } | undefined;
      const tell = () => {
        const value = read();
        if (last && last.value === value) return;
        last = { value };
        run(value);
      };
      const stop = subscribe(tell);
      tell();
      return stop;
    },
  };
}

/**
 * A session, followed while a component shows it. Growing text changes it at most once a frame, everything else at once. On a server it
 * opens nothing and renders `initial`.
 *
 * @param id The session's key. Make a new value for another key: `const chat = $derived(liveSession(client, id))`.
 *
 * @example
 * ```ts
 * const chat = liveSession(client, 'main');
 * chat.send('Hello');
 * console.log(chat.current.messages.length);
 * ```
 */
export function liveSession<Source = unknown>(
  client: Client<any>,
  id: string,
  options?: SessionOptions,
): LiveSession<Source> {
  const store = createSessionStore(client, id, options);
  const { send, edit, regenerate, move, fork, abort, approve, deny, respond, loadEarlier, retry } =
    store.getSnapshot();
  const value = live(store);
  const actions = { send, edit, regenerate, move, fork, abort, approve, deny, respond, loadEarlier, retry };
  return Object.defineProperties(actions, Object.getOwnPropertyDescriptors(value)) as never;
}

/** The health of a client's connection, for a person. */
export function liveConnection({ connection }: Client<any>): Live<ConnectionHealth> {
  return live(healthOf(connection));
}
