import type { ConnectionStatus } from '../connection.js';
import type { Shown } from './session-store.js';

/**
 * What a person should know of the connection. `online` also while nothing needs one. `offline`: the gateway cannot be reached, and is
 * tried again. `unauthorized`: it refuses who asks.
 */
export type ConnectionHealth = 'online' | 'connecting' | 'offline' | 'unauthorized';

/** The health of a connection, to be shown. */
export function healthOf(connection: ConnectionStatus): Shown<ConnectionHealth> {
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
