import type { ConnectionStatus } from '../connection.js';
import type { Observable } from './session-store.js';

/**
 * The connection's state, for a person. `online` also while no connection is needed. `offline`: the gateway cannot be reached, and is tried again.
 * `unauthorized`: the gateway refuses the credentials.
 */
export type ConnectionHealth = 'online' | 'connecting' | 'offline' | 'unauthorized';

/** The health of a connection, as an interface reads it. */
export function healthOf(connection: ConnectionStatus): Observable<ConnectionHealth> {
  const page = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>;
  return {
    getSnapshot: () => {
      const { state, error } = connection;
      if (error?.status === 401) return 'unauthorized';
      if (error || (globalThis.navigator as Partial<Navigator> | undefined)?.onLine === false)
        return 'offline';
      return state === 'open' || state === 'closed' ? 'online' : 'connecting';
    },
    subscribe: (listener) => {
      const stop = connection.subscribe(listener);
      const each = (verb: 'add' | 'remove') => {
        for (const type of ['online', 'offline']) page[`${verb}EventListener`]?.(type, listener);
      };
      each('add');
      return () => {
        stop();
        each('remove');
      };
    },
  };
}
