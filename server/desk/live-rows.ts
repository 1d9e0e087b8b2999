import { nameOf } from '../auth/scope.js';
import type { EventConnection } from '../delivery/connection.js';
import { runIn } from '../held/held-run.js';
import type { HeldSession } from '../held/held-session.js';
import type { LiveRun } from '../runs/live-run.js';
import type { Session } from '../sessions/session.js';
import type { DeskConnection, DeskRun } from './rows.js';

/** The runs of a session that are under way here, children included. */
export function liveRuns(session: Session, gateway: string): readonly DeskRun[] {
  const { held, ref } = session;
  if (!held) return [];
  return held.runs
    .all()
    .flatMap((root) => root.tree)
    .map((run) => {
      const { user, lane } = run.request;
      return {
        ...{ gateway, sessionId: session.id, scope: ref.scope, runId: run.id, app: lane?.app ?? ref.app },
        user: user && nameOf(user),
        state: run.state === 'ended' ? 'active' : run.state,
        waitsFor: waitOf(held, run),
        ageMs: Math.round(performance.now() - run.acceptedAt),
      };
    });
}

function waitOf({ log, runs }: HeldSession, run: LiveRun): DeskRun['waitsFor'] {
  if (log.stalled || run.state === 'accepting') return 'store';
  if (run.state === 'queued') return 'queue';
  if (run.slot?.state === 'waiting') return 'slot';
  if (runIn(log.state, run.id)?.held) return 'version';
  if (runs.questions.ofRun(run.id) > 0) return 'person';
  return run.tree.length > 1 ? 'child' : 'app';
}

/** A connection, for operators. */
export function connectionRow(connection: EventConnection, gateway: string): DeskConnection {
  const { id, person, options, openedAt, subscriptions, writable } = connection;
  return {
    ...{ gateway, id, user: nameOf(person.user), transport: options.transport },
    ...{ openMs: Math.round(performance.now() - openedAt), sessions: subscriptions },
    ...{ unreadBytes: options.sink.unread(), blocked: !writable },
  };
}
