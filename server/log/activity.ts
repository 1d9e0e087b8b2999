import type { SessionState } from '../../shared/fold.js';
import type { Activity } from '../stores/stored.js';

/** Events that count as a use of a session: its activity or its shown messages change. */
const USING: ReadonlySet<string> = new Set([
  'message_accepted',
  'message_start',
  'message_end',
  'history_moved',
  'steer',
  'run_spawned',
  'control_moved',
  'hand_off_requested',
  'tool_confirmation_required',
  'tool_confirmation_result',
  'input_required',
  'input_result',
  'session_closed',
]);

/** Events that change the record of a session and are no use of it. */
const CHANGING: ReadonlySet<string> = new Set([
  'message_replaced',
  'session_updated',
  'run_held',
  'run_taken_up',
  'usage_added',
]);

/** Whether an event of this type changes the record of a session. */
export function changesRecord(type: string): boolean {
  return USING.has(type) || CHANGING.has(type);
}

/** Whether an event of this type counts as a use of its session. */
export function isUse(type: string): boolean {
  return USING.has(type);
}

/**
 * The activity of a session, from its folded state.
 *
 * @param start Place just before the first event of the active run.
 * @param ended Number of runs that have ended.
 */
export function activityOf(
  { run, pending, queue, lanes }: SessionState,
  start: number | undefined,
  ended?: number,
): Activity {
  const counted = ended !== undefined && { ended };
  const isBeside = lanes?.some(({ stopReason }) => !stopReason);
  if (!run && queue.length === 0 && pending.length === 0 && !isBeside)
    return { status: 'idle', queued: 0, ...counted };
  const active = run && {
    runId: run.runId,
    ...(run.version !== undefined && { version: run.version }),
    ...(start !== undefined && { start }),
  };
  const isHeld = run ? run.held : isBeside && lanes!.every(({ stopReason, held }) => stopReason || held);
  const status = pending.length > 0 || isHeld ? 'waiting' : 'running';
  return { status, queued: queue.length, ...counted, ...active, ...(isHeld && { parked: true }) };
}

export function isSameActivity(a: Activity, b: Activity): boolean {
  return (
    a.status === b.status &&
    a.runId === b.runId &&
    a.start === b.start &&
    a.queued === b.queued &&
    a.ended === b.ended &&
    a.version === b.version &&
    a.parked === b.parked
  );
}
