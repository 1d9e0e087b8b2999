import type { SessionState } from '../../shared/fold.js';
import type { Activity } from '../stores/store.js';

/** Events with which a session is used: it does something else after them, or shows another message. */
const USING: ReadonlySet<string> = new Set([
  'message_accepted',
  'message_start',
  'message_end',
  'history_moved',
  'steer',
  'control_moved',
  'hand_off_requested',
  'tool_confirmation_required',
  'tool_confirmation_result',
  'input_required',
  'input_result',
  'session_closed',
]);

/** Whether its record says something else of a session after an event of this type. */
export function changesRecord(type: string): boolean {
  return USING.has(type) || type === 'session_updated';
}

/** Whether a session is used with an event of this type. */
export function isUse(type: string): boolean {
  return USING.has(type);
}

/**
 * What a session does by its folded state.
 *
 * @param start Place just before the first event of the active run's.
 * @param ended How many runs have ended.
 */
export function activityOf(
  { run, pending, queue }: SessionState,
  start: number | undefined,
  ended?: number,
): Activity {
  const counted = ended !== undefined && { ended };
  if (!run && queue.length === 0 && pending.length === 0) return { status: 'idle', queued: 0, ...counted };
  const active = run && { runId: run.runId, ...(start !== undefined && { start }) };
  const status = pending.length > 0 ? 'waiting' : 'running';
  return { status, queued: queue.length, ...counted, ...active };
}

export function isSameActivity(a: Activity, b: Activity): boolean {
  return (
    a.status === b.status &&
    a.runId === b.runId &&
    a.start === b.start &&
    a.queued === b.queued &&
    a.ended === b.ended &&
    a.parked === b.parked
  );
}
