import { parseCursor } from '../../../shared/cursor.js';
import type { SessionState } from '../../../shared/fold.js';
import type { RunInfo } from '../../../shared/operation-types.js';
import type { PluginSession } from '../plugin.js';
import { orNull } from './errors.js';

/** A run of a session; null if the session has no such run. */
export function runIn(session: PluginSession, runId: string): Promise<RunInfo | null> {
  return orNull(async () => {
    const info = await session.run(runId).status();
    return info.sessionId === session.id ? info : null;
  });
}

/** The runs that a state has, the newest first. One of a message that a fork has copied is a run of the other session. */
export function runsIn({ run, queue, messages }: SessionState): readonly string[] {
  const ended = messages.flatMap((message) => (message.runId === undefined ? [] : [message.runId]));
  const queued = queue.map(({ runId }) => runId);
  return [...new Set([...ended, ...(run ? [run.runId] : []), ...queued].reverse())];
}

/**
 * The place just before the first of some runs, and of a place of the session's log. Runs whose events are no longer kept, or were copied from
 * another session, do not count.
 */
export async function firstOf(
  session: PluginSession,
  runIds: Iterable<string>,
  place: string | null = null,
): Promise<string | null> {
  const { epoch, first } = await session.status();
  const runs = await Promise.all([...new Set(runIds)].map((runId) => runIn(session, runId)));
  let found = place;
  for (const info of runs) {
    const known = info && parseCursor(info.cursor);
    if (!known || known.epoch !== epoch || known.seq < first - 1) continue;
    if (found === null || known.seq < parseCursor(found)!.seq) found = info.cursor;
  }
  return found;
}

/** The time of the first event that a session has kept. */
export async function beganAt(session: PluginSession): Promise<number | undefined> {
  for await (const { ts } of session.events({ from: 'earliest' })) if (ts !== undefined) return ts;
  return undefined;
}
