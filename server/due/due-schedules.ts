import { isGatewayError } from '../../shared/errors.js';
import type { Limits } from '../config/limits.js';
import { newMessageId, newRunId } from '../ids.js';
import { dropping, keptOf } from '../schedules/schedule-record.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { SessionRef, Store } from '../stores/store.js';
import type { DueHandler } from './due-worker.js';

/** Fires the schedules that are due, each in its session, wherever that is held. */
export function scheduleHandler({
  sessions,
  store,
  limits: { scheduleGraceMs },
}: {
  readonly sessions: SessionDirectory;
  readonly store: Store;
  readonly limits: Pick<Limits, 'scheduleGraceMs'>;
}): DueHandler {
  return async ({ home, id, value, token }, now) => {
    const { schedule, user, senderId } = keptOf({ value });
    const message = {
      id: newMessageId(),
      role: 'user' as const,
      content: [{ type: 'text' as const, text: schedule.message }],
      createdAt: schedule.nextAt,
      ...(senderId !== undefined && { senderId }),
    };
    const begins = {
      ...{ runId: newRunId(), message, preceding: [], onBusy: 'queue' as const, key: undefined },
      ...{ user, metadata: {}, clientTools: [], parameters: {} },
    };
    try {
      const record = { id, value, token };
      await sessions.perform(home as SessionRef, {
        type: 'fire',
        record,
        now,
        graceMs: scheduleGraceMs,
        begins,
      });
    } catch (error) {
      // It was closed, and nothing of it fires any more.
      if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
      await store.changeRecords(home, [dropping(id, token)]);
    }
  };
}
