import { isGatewayError } from '../../shared/gateway-error.js';
import type { Schedule } from '../../shared/schedules/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import { type SessionSchedules, sessionSchedules } from '../schedules/index.js';
import { forEach } from './events.js';
import type { Observable } from './session-store.js';

/** The schedules of a session, for display. */
export interface SchedulesView {
  /** The schedules, in the order in which they fire next. */
  readonly schedules: readonly Schedule[];
  /** The error if they could not be read. */
  readonly error?: unknown;
  /** Whether they were not read yet. */
  readonly isLoading: boolean;
}

const NOTHING: SchedulesView = { schedules: [], isLoading: true };
const CHANGES = ['schedule_set', 'schedule_unset', 'schedule_fired', 'session_closed', 'gap'] as const;

/** The schedules of a session, updated while somebody listens, with the actions on them. */
export function createSchedulesStore(
  client: Client<any>,
  sessionId: string,
): Observable<SchedulesView> & SessionSchedules {
  const session = sessionSchedules(client, sessionId);
  let view = NOTHING;
  const listeners = new Set<() => void>();
  let stop: (() => void) | undefined;
  /** The number of the latest request. Responses of older ones are dropped. */
  let asked = 0;
  const show = (next: SchedulesView): void => {
    view = next;
    for (const listener of listeners) listener();
  };
  const load = async (): Promise<void> => {
    const mine = ++asked;
    try {
      const now = await session.schedules();
      if (mine === asked) show({ schedules: now, isLoading: false });
    } catch (error) {
      // A session that has not begun has no schedules.
      const isAbsent = isGatewayError(error) && error.code === 'SESSION_NOT_FOUND';
      const failure = isAbsent ? {} : { error };
      if (mine === asked) show({ schedules: isAbsent ? [] : view.schedules, isLoading: false, ...failure });
    }
  };
  return {
    ...session,
    getSnapshot: () => view,
    subscribe(listener) {
      listeners.add(listener);
      if (!stop) {
        const failed = (error: unknown): void => show({ ...view, error, isLoading: false });
        const events = client.events(sessionId, { from: 'now', types: [...CHANGES] });
        const stops = [
          forEach(events, () => void load(), failed),
          coreOf.get(client)!.person.subscribe(() => {
            show(NOTHING);
            void load();
          }),
        ];
        stop = () => {
          for (const each of stops) each();
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
