import { isGatewayError } from '../../shared/errors.js';
import type { Limits } from '../config/limits.js';
import { GRANT } from '../grants/grant-record.js';
import { CHILD_END } from '../held/child-ends.js';
import { CONTROL } from '../held/control.js';
import { WAKING } from '../held/waking.js';
import { APPROVAL } from '../runs/approvals.js';
import type { SessionDirectory } from '../sessions/directory.js';
import type { SessionInput } from '../sessions/session-work.js';
import type { StoredRecord } from '../stores/records.js';
import type { SessionRef } from '../stores/stored.js';
import { DONE, LEFT } from './due-kind.js';
import type { DueWorker } from './due-worker.js';

/** The work in its session that each due record of a kind asks for. */
export type DueWork = Readonly<
  Record<string, (record: StoredRecord, now: number, limits: Limits) => SessionInput>
>;

interface DueParts {
  readonly sessions: SessionDirectory;
  readonly limits: Limits;
}

/** Turns due records of sessions into work in these sessions: approvals, ends of children, parked runs, control of a person, grants, and what features add. */
export function workInSessions(due: DueWorker, { sessions, limits }: DueParts, added: DueWork): void {
  const on = (kind: string, workOf: (record: StoredRecord, now: number) => SessionInput): void =>
    due.on(kind, {
      wanted({ home }) {
        if (home.app === undefined) return { drop: 'it belongs to no session' };
        // A gateway that has the app may take it next.
        return sessions.serves(home) || LEFT;
      },
      async do(record, { now }) {
        try {
          await sessions.perform(record.home as SessionRef, workOf(record, now));
          return DONE;
        } catch (error) {
          if (!isGatewayError(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
          return { drop: 'the session is closed' };
        }
      },
    });
  on(GRANT, ({ id }) => ({ type: 'unshare', grantId: id, by: 'gateway', reason: 'expired' }));
  on(APPROVAL, ({ id, token }, now) => ({ type: 'expire', callId: id, token, now }));
  on(CONTROL, ({ value, token }) => ({ type: 'release-control', value, token }));
  on(CHILD_END, ({ value, token }) => ({ type: 'child-end', value, token }));
  on(WAKING, ({ id, token }) => ({ type: 'wake', runId: id, token }));
  for (const [kind, workOf] of Object.entries(added)) on(kind, (record, now) => workOf(record, now, limits));
}
