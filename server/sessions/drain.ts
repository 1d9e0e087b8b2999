import { within } from '../async/deadline.js';
import type { SessionDirectory } from './directory.js';

/** How sessions are drained. */
export interface DrainOptions {
  readonly drainMs: number;
  /** How long the store may take to keep what was appended. */
  readonly storeMs: number;
  /** Whether the store hands on what is not finished. */
  readonly handOver: boolean;
  /** What else may use sessions, and is waited for within the same bound. */
  readonly others: Promise<void>;
}

/**
 * Lets runs finish within a bound, ends the rest as `lost`, and gives every session up with what it appended stored. What a store
 * that outlives the process can hand on is not waited for but left in it: queued messages, and runs of resumable apps.
 */
export async function drainSessions(
  sessions: SessionDirectory,
  { drainMs, storeMs, handOver, others }: DrainOptions,
): Promise<void> {
  const live = [...sessions.values()];
  if (handOver) for (const session of live) session.runs.hold();
  const running = live.flatMap(({ runs }) =>
    (handOver ? (runs.active ? [runs.active] : []) : runs.queue.all()).map((run) => run.ended),
  );
  const calling = live.filter(({ calls }) => calls.size > 0).map(({ calls }) => calls.ended());
  await within(Promise.allSettled([...running, ...calling, others]), drainMs);
  if (handOver) for (const session of live) session.runs.handOver();
  for (const session of live) {
    session.calls.endAll('The gateway is shutting down');
    session.runs.endAll({ stopReason: 'lost', reason: 'the gateway is shutting down' });
  }
  await Promise.all(live.map((session) => session.abandon(storeMs)));
}
