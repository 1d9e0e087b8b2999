import type { UserContext } from '../../shared/contract.js';
import { isGatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Limits } from '../config/limits.js';
import { DONE, type DueMoment, LEFT } from '../due/due-kind.js';
import type { DueWorker } from '../due/due-worker.js';
import { GRANTS } from '../grants/grant-record.js';
import { CHILD_ENDS } from '../held/child-ends.js';
import { CONTROLS } from '../held/control.js';
import { WAKINGS } from '../held/waking.js';
import type { Kept, Kind } from '../records/kind.js';
import { APPROVALS } from '../runs/approvals.js';
import type { RunSender } from '../runs/live-run.js';
import type { StoredRecord } from '../stores/records.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionDirectory } from './directory.js';
import type { SessionInput } from './session-work.js';

/** Time after which work is due again whose grant is ending, in milliseconds. */
const SOON_MS = 1000;

/** Answers of a session that has something else to do first. */
const NOT_YET: ReadonlySet<string> = new Set(['TAKEN_OVER', 'QUEUE_FULL', 'SESSION_BUSY']);

/** Somebody for whom work is done later: an id, never roles of that day. */
export interface AbsentActor {
  readonly user: UserContext;
  /** Whether host code has named the user, whom no directory may know. */
  readonly byHost?: boolean;
  /** The grant by which the user reached the session. */
  readonly grantId?: string;
}

/** The same person as they are now. */
export interface PresentActor extends RunSender {
  readonly user: UserContext;
}

/** All that due work asks of the gateway. */
export interface DueKernel {
  readonly limits: Limits;
  /** The person as whom it is done, as they are now; null if that user may not send to the session any more. @throws if nobody can say now */
  actorOf(home: SessionRef, kept: AbsentActor): Promise<PresentActor | null>;
}

/** A due record of a session, as its kind reads it. */
type KeptInSession<Value> = Kept<Value> & { readonly home: SessionRef };

/** The work in their sessions that the due records of a kind ask for. */
export interface DueWork {
  readonly kind: string;
  /** The work; null for a record of another form than its kind has. */
  workOf(record: StoredRecord, at: DueMoment, kernel: DueKernel): MaybePromise<SessionInput | null>;
}

/** Says what work a due record of a kind asks for. */
export const dueIn = <Value extends object>(
  kind: Kind<Value>,
  workOf: (kept: KeptInSession<Value>, at: DueMoment, kernel: DueKernel) => MaybePromise<SessionInput>,
): DueWork => ({
  kind: kind.name,
  workOf(record, at, kernel) {
    const kept = kind.read(record);
    return kept && workOf(kept as KeptInSession<Value>, at, kernel);
  },
});

/** The due work of the engine itself. */
const OWN: readonly DueWork[] = [
  dueIn(GRANTS, ({ id }) => ({ type: 'unshare', grantId: id, by: 'gateway', reason: 'expired' })),
  dueIn(APPROVALS, ({ id, token }, { now }) => ({ type: 'expire', callId: id, token, now })),
  dueIn(CONTROLS, (kept) => ({ type: 'release-control', kept })),
  dueIn(CHILD_ENDS, (kept) => ({ type: 'child-end', kept })),
  dueIn(WAKINGS, ({ id, token }) => ({ type: 'wake', runId: id, token })),
];

interface DueParts extends DueKernel {
  readonly sessions: SessionDirectory;
}

/** Turns due records of sessions into work in these sessions: approvals, ends of children, parked runs, control of a person, grants, and what features add. */
export function workInSessions(
  due: DueWorker,
  { sessions, ...kernel }: DueParts,
  added: readonly DueWork[],
): void {
  for (const { kind, workOf } of [...OWN, ...added])
    due.on(kind, {
      wanted({ home }) {
        if (home.app === undefined) return { drop: 'it belongs to no session' };
        // A gateway that has the app may take it next.
        return sessions.serves(home) || LEFT;
      },
      async do(record, at) {
        const work = await workOf(record, at, kernel);
        if (!work) return { dead: 'its record has another form' };
        try {
          await sessions.perform(record.home as SessionRef, work);
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
}
