import { isGatewayError } from '../../shared/gateway-error.js';
import type { Schedule } from '../../shared/schedules/contract.js';
import type { Client } from '../client.js';
import { type SessionSchedules, sessionSchedules } from '../schedules/index.js';
import { createReadStore, type ReadState } from './read-store.js';
import type { Observable } from './session-store.js';

/** The schedules of a session, for display. */
export interface SchedulesView extends ReadState {
  /** The schedules, in the order in which they fire next. */
  readonly schedules: readonly Schedule[];
}

/** The schedules of a session, updated while somebody listens, with the actions on them. */
export function createSchedulesStore(
  client: Client<any>,
  sessionId: string,
): Observable<SchedulesView> & SessionSchedules {
  const session = sessionSchedules(client, sessionId);
  const store = createReadStore(client, {
    nothing: { schedules: [] as readonly Schedule[] },
    sessionId,
    types: ['schedule_set', 'schedule_unset', 'schedule_fired', 'session_closed', 'gap'],
    read: () =>
      session.schedules().then(
        (schedules) => ({ schedules }),
        (error) => {
          // A session that has not begun has no schedules.
          if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND') return { schedules: [] };
          throw error;
        },
      ),
  });
  return { ...session, ...store };
}
