import { isGatewayError } from '../../shared/errors.js';
import type { SessionDirectory } from '../sessions/directory.js';
import { WAKING } from '../sessions/waking.js';
import type { SessionRef, Store } from '../stores/store.js';
import type { DueHandler } from './due-worker.js';

/** Goes on with the runs that were parked until now, each in its session, wherever that is held. */
export function wakingHandler({
  sessions,
  store,
}: {
  readonly sessions: SessionDirectory;
  readonly store: Store;
}): DueHandler {
  return async ({ home, id, token }) => {
    try {
      await sessions.perform(home as SessionRef, { type: 'wake', runId: id, token });
    } catch (error) {
      // It was closed, and its runs have ended with it.
      if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
      await store.changeRecords(home, [{ kind: WAKING, id, token }]);
    }
  };
}
