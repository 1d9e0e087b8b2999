import type { EventType } from '../../shared/events.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import { forEach } from './events.js';
import type { Observable } from './session-store.js';

/** The state of a reading. */
export interface ReadState {
  /** The error if it could not be read. */
  readonly error?: unknown;
  /** Whether it was not read yet. */
  readonly isLoading: boolean;
}

/** How something is read, and the events after which it is read again. */
interface RereadOptions<Value> {
  /** The value before the first reading. */
  readonly nothing: Value;
  readonly sessionId?: string | undefined;
  readonly types: readonly EventType[];
  read(): Promise<Value>;
}

/** A value that is read, and read again after events of a session, while somebody listens. */
export function createReadStore<Value extends object>(
  client: Client<any>,
  { nothing, sessionId, types, read }: RereadOptions<Value>,
): Observable<Value & ReadState> {
  const listeners = new Set<() => void>();
  const loading = { ...nothing, isLoading: true };
  let view: Value & ReadState = loading;
  let stop: (() => void) | undefined;
  /** The number of the latest request. Responses of older ones are dropped. */
  let asked = 0;
  const show = (next: Value & ReadState): void => {
    view = next;
    for (const listener of listeners) listener();
  };
  const failed = (error: unknown): void => show({ ...view, error, isLoading: false });
  const load = async (): Promise<void> => {
    const mine = ++asked;
    let next: Partial<Value> & { readonly error?: unknown };
    try {
      next = await read();
    } catch (error) {
      next = { ...view, error };
    }
    if (mine === asked) show({ ...next, isLoading: false } as Value & ReadState);
  };
  return {
    getSnapshot: () => view,
    subscribe(listener) {
      listeners.add(listener);
      if (!stop) {
        const unfollow =
          sessionId && forEach(client.events(sessionId, { from: 'now', types: [...types] }), load, failed);
        // Another person must not read what this one has.
        const forget = coreOf.get(client)!.person.subscribe(() => {
          show(loading);
          void load();
        });
        stop = () => {
          if (unfollow) unfollow();
          forget();
        };
        void load();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}
