import type { UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Limits } from '../config/limits.js';
import { DONE, type DueMoment, LEFT } from '../due/due-kind.js';
import type { DueWorker } from '../due/due-worker.js';
import { GRANT } from '../grants/grant-record.js';
import { CHILD_END } from '../held/child-ends.js';
import { CONTROL } from '../held/control.js';
import { WAKING } from '../held/waking.js';
import { APPROVAL } from '../runs/approvals.js';
import { type KeptSchedule, keptOf, SCHEDULE } from '../schedules/schedule-record.js';
import type { StoredRecord } from '../stores/records.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionDirectory } from './directory.js';
import type { SessionInput } from './session-work.js';

/** Time after which a schedule is due again whose grant is ending, in milliseconds. */
const SOON_MS = 1000;

/** Answers of a session that has something else to do first. */
const NOT_YET: ReadonlySet<string> = new Set(['TAKEN_OVER', 'QUEUE_FULL', 'SESSION_BUSY']);

/** A due record of a session. */
type RecordOfSession = StoredRecord & { readonly home: SessionRef };

interface DueParts {
  readonly sessions: SessionDirectory;
  readonly limits: Pick<Limits, 'scheduleGraceMs'>;
  /** The user as whom a schedule fires; null if that user may not any more. @throws if nobody can say now */
  setterOf(home: SessionRef, kept: KeptSchedule): Promise<UserContext | null>;
}

/** Turns due records of sessions into work in these sessions: approvals, ends of children, parked runs, control of a person, schedules, grants. */
export function workInSessions(
  due: DueWorker,
  { sessions, setterOf, limits: { scheduleGraceMs: graceMs } }: DueParts,
): void {
  const on = (
    kind: string,
    workOf: (record: RecordOfSession, at: DueMoment) => MaybePromise<SessionInput>,
  ): void =>
    due.on(kind, {
      wanted({ home }) {
        if (home.app === undefined) return { drop: 'it belongs to no session' };
        // A gateway that has the app may take it next.
        return sessions.serves(home) || LEFT;
      },
      async do(due, at) {
        const record = due as RecordOfSession;
        const work = await workOf(record, at);
        try {
          await sessions.perform(record.home, work);
          return DONE;
        } catch (error) {
          const code = isGatewayError(error) ? error.code : undefined;
          // A person may have control for days.
          if (code !== undefined && NOT_YET.has(code)) return LEFT;
          if (code !== 'SESSION_NOT_FOUND') throw error;
          // The end of a grant takes back what was set by it.
          return work.via === undefined ? { drop: 'the session is closed' } : { laterMs: SOON_MS };
        }
      },
    });
  on(GRANT, ({ id }) => ({ type: 'unshare', grantId: id, by: 'gateway', reason: 'expired' }));
  on(APPROVAL, ({ id, token }, { now }) => ({ type: 'expire', callId: id, token, now }));
  on(CONTROL, ({ value, token }) => ({ type: 'release-control', value, token }));
  on(CHILD_END, ({ value, token }) => ({ type: 'child-end', value, token }));
  on(WAKING, ({ id, token }) => ({ type: 'wake', runId: id, token }));
  on(SCHEDULE, async ({ home, id, value, token }, { now }) => {
    const kept = keptOf({ value });
    const { nextAt, every } = kept.schedule;
    const fire = { type: 'fire', record: { id, value, token }, now, graceMs } as const;
    try {
      const user = await setterOf(home, kept);
      return user ? { ...fire, as: { user }, via: kept.grantId } : { ...fire, as: { skipped: 'refused' } };
    } catch (error) {
      // It comes again anyway, and its instants must not pile up.
      if (every === undefined || now - nextAt <= graceMs) throw error;
      return { ...fire, as: { skipped: 'unavailable' } };
    }
  });
}
