import { parseCursor } from '../../../shared/cursor.js';
import type { EventOf, LoggedEvent } from '../../../shared/events.js';
import type { History, View } from '../history.js';

/** A run as its log tells of it. */
export interface LoggedRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly accepted: EventOf<'message_accepted'>;
  readonly start?: EventOf<'message_start'>;
  readonly end?: EventOf<'message_end'>;
}

/** The log of one session, as the first gateway shows it: the others are compared with that. */
export interface SessionLog {
  readonly sessionId: string;
  readonly app: string;
  readonly events: readonly LoggedEvent[];
  readonly byCursor: ReadonlyMap<string, LoggedEvent>;
  readonly runs: ReadonlyMap<string, LoggedRun>;
}

/** The logs of a history, by session. */
export function logsOf({ views }: History): ReadonlyMap<string, SessionLog> {
  const logs = new Map<string, SessionLog>();
  for (const view of views) if (!logs.has(view.sessionId)) logs.set(view.sessionId, logOf(view));
  return logs;
}

function logOf({ sessionId, events }: View): SessionLog {
  const runs = new Map<string, LoggedRun>();
  for (const event of events) {
    const { runId } = event;
    if (runId === undefined) continue;
    const run = runs.get(runId);
    if (event.type === 'message_accepted' && !run) runs.set(runId, { runId, sessionId, accepted: event });
    else if (run && event.type === 'message_start' && !run.start) runs.set(runId, { ...run, start: event });
    else if (run && event.type === 'message_end' && !run.end) runs.set(runId, { ...run, end: event });
  }
  return {
    sessionId,
    app: appOf(sessionId),
    events,
    byCursor: new Map(events.map((event) => [event.cursor, event])),
    runs,
  };
}

/** The app of a session. */
export const appOf = (sessionId: string): string =>
  sessionId.includes(':') ? sessionId.split(':')[0]! : 'talk';

/** The number of an event in its log. */
export const seqOf = (cursor: string): number => parseCursor(cursor)?.seq ?? Number.NaN;

/** The same text for the same value, whatever the order of its fields. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
