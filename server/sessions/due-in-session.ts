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
import type { StoredRecord } from '../stores/records.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionDirectory } from './directory.js';
import type { SessionInput } from './session-work.js';

/** Time after which work is due again whose grant is ending, in milliseconds. */
const SOON_MS = 1000;

/** Answers of a session that has something else to do first. */
const NOT_YET: ReadonlySet<string> = new Set(['TAKEN_OVER', 'QUEUE_FULL', 'SESSION_BUSY']);

/** A due record of a session. */
export type RecordOfSession = StoredRecord & { readonly home: SessionRef };

/** Somebody for whom work is done later: an id, never roles of that day. */
export interface AbsentActor {
  readonly user: UserContext;
  /** Whether host code has named the user, whom no directory may know. */
  readonly byHost?: boolean;
  /** The grant by which the user reached the session. */
  readonly grantId?: string;
}

/** All that due work asks of the gateway. */
export interface DueKernel {
  readonly limits: Limits;
  /** The user as whom it is done, as it is now; null if that user may not send to the session any more. @throws if nobody can say now */
  actorOf(home: SessionRef, kept: AbsentActor): Promise<UserContext | null>;
}

/** The work in its session that each due record of a kind asks for. */
export type DueWork = Readonly<
  Record<string, (record: RecordOfSession, at: DueMoment, kernel: DueKernel) => MaybePromise<SessionInput>>
>;

interface DueParts extends DueKernel {
  readonly sessions: SessionDirectory;
}

/** Turns due records of sessions into work in these sessions: approvals, ends of children, parked runs, control of a person, grants, and what features add. */
export function workInSessions(due: DueWorker, { sessions, ...kernel }: DueParts, added: DueWork): void {
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
  for (const [kind, workOf] of Object.entries(added)) on(kind, (record, at) => workOf(record, at, kernel));
}
