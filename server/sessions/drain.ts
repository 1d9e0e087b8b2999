import { within } from '../deadline.js';
import type { SessionDirectory } from './directory.js';

/**
 * Lets runs finish within a bound, ends the rest as `lost`, and gives every session up with what it appended stored. What a store
 * that outlives the process can hand on is not waited for but left in it: queued messages, and runs of resumable apps.
 *
 * @param options.storeMs How long the store may take to keep it.
 */
export async function drainSessions(
  sessions: SessionDirectory,
  {
    drainMs,
    storeMs,
    handOver,
  }: { readonly drainMs: number; readonly storeMs: number; readonly handOver: boolean },
): Promise<void> {
  const live = [...sessions.values()];
  if (handOver) for (const session of live) session.runs.hold();
  const running = live.flatMap(({ runs }) =>
    (handOver ? (runs.active ? [runs.active] : []) : runs.queue.all()).map((run) => run.ended),
  );
  const calling = live.filter(({ calls }) => calls.size > 0).map(({ calls }) => calls.ended());
  if (running.length + calling.length > 0)
    await within(Promise.allSettled([...running, ...calling]), drainMs);
  if (handOver) for (const session of live) session.runs.handOver();
  for (const session of live) {
    session.calls.endAll('The gateway is shutting down');
    session.runs.endAll({ stopReason: 'lost', reason: 'the gateway is shutting down' });
  }
  await Promise.all(live.map((session) => session.abandon(storeMs)));
}
