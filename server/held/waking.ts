import { GatewayError } from '../../shared/errors.js';
import type { LiveRun } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import type { HeldSession } from './held-session.js';

/** Kind of the records that resume a parked run in time. */
export const WAKING = 'waking';

/** The record that resumes a run at a time of the store's clock, in milliseconds since the epoch. */
const waking = (runId: string, dueAt: number): RecordChange => ({
  ...{ kind: WAKING, id: runId, dueAt, value: '{}' },
});

/** The wait of a run. */
interface Wait {
  /** Time at which it must be resumed, by the store's clock, in milliseconds since the epoch. */
  readonly until: number;
  /** Whether it still only waits. */
  waits(): boolean;
}

/** Leaves a run that only waits to the store, if nobody waits for it or follows it here. */
export async function park(held: HeldSession, run: LiveRun, { until, waits }: Wait): Promise<void> {
  const { env, log, ref, runs, tenure } = held;
  const isOnly = (): boolean => runs.all().length === 1 && run.tree.length === 1;
  const isAlone = (): boolean =>
    run === runs.active && isOnly() && waits() && held.mayStart && tenure.unfollowed;
  if (!env.app(ref.app).resumable || !isAlone()) return;
  try {
    const records = Number.isFinite(until) ? [waking(run.id, until)] : [];
    await log.commit([], { parked: true, records, refusable: true });
    // The run goes on here, so another process has to take it up if this one ends.
    if (!isAlone() || log.pending) return void (await log.commit([], { parked: false }));
    runs.stop(run);
    run.reject(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
    await tenure.letGo();
  } catch (error) {
    env.report(error, `parking run ${run.id}`, runs.about(run));
  }
}

/** A parked run that is due. */
export interface Woken {
  readonly runId: string;
  readonly token: number;
}

/** Drops the record: holding the session has already resumed the run. */
export async function wake({ log }: HeldSession, { runId, token }: Woken): Promise<void> {
  await log.commit([], { records: [{ kind: WAKING, id: runId, token }], refusable: true });
}
