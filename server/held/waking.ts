import * as z from 'zod';
import { GatewayError } from '../../shared/errors.js';
import { kind } from '../records/kind.js';
import type { LiveRun } from '../runs/live-run.js';
import { ownerOf } from './held-run.js';
import type { HeldSession } from './held-session.js';

/** A parked run. */
interface KeptWait {
  /** Absent where it waits for an answer alone. */
  readonly at?: number;
  readonly app?: string;
}

/** The records of parked runs, which resume them at a time of the store's clock, in milliseconds since the epoch. They are found by the runs' app. */
export const WAKINGS = kind<KeptWait>({
  ...{ name: 'waking', endsWith: 'conversation' },
  schema: z.object({ at: z.number().exactOptional(), app: z.string().exactOptional() }),
  ownerOf: ({ app }) => (app === undefined ? undefined : ownerOf(app)),
  dueOf: ({ at }) => at,
});

/** Notes that a parked run goes on here: it is lost with this process, like any other. */
export function unpark({ log }: HeldSession, runId: string): void {
  log.commit([], { parked: false, records: [WAKINGS.drop(runId)] }).catch(() => {});
}

/** The wait of a run. */
interface Wait {
  /** Time at which it must be resumed, by the store's clock, in milliseconds since the epoch. */
  readonly until: number;
  /** Whether it still only waits. */
  waits(): boolean;
}

/** Whether a run is all that the session has here, and nobody follows it. */
const isLone = (held: HeldSession, run: LiveRun): boolean =>
  run === held.runs.active &&
  held.runs.all().length === 1 &&
  run.tree.length === 1 &&
  held.mayStart &&
  held.tenure.unfollowed;

async function letGo({ runs, tenure }: HeldSession, run: LiveRun): Promise<void> {
  runs.stop(run);
  run.reject(new GatewayError({ code: 'SHUTTING_DOWN', retryAfterMs: 1000 }));
  await tenure.letGo();
}

/** Leaves a session whose run is held back to the store, if nobody needs it here. @param given Whether another gateway takes it at once */
export async function leave(held: HeldSession, run: LiveRun, given = false): Promise<void> {
  if (held.over || !(given || isLone(held, run))) return;
  await held.log.quiesce();
  if (held.over || !(given || isLone(held, run))) return;
  if (given) held.runs.handOver();
  try {
    if (given) await held.tenure.letGo();
    else await letGo(held, run);
  } catch (error) {
    held.env.report(error, `leaving run ${run.id}`, held.runs.about(run));
  }
}

/** Leaves a run that only waits to the store, if nobody waits for it or follows it here. */
export async function park(held: HeldSession, run: LiveRun, { until, waits }: Wait): Promise<void> {
  const { env, log, ref, runs } = held;
  const isAlone = (): boolean => isLone(held, run) && waits();
  if (!env.app(ref.app).resumable || !isAlone()) return;
  try {
    const wait = { app: ref.app, ...(Number.isFinite(until) && { at: until }) };
    const records = [WAKINGS.put(run.id, wait, log.ref)];
    await log.commit([], { parked: true, records, refusable: true });
    // The run goes on here, so another process has to take it up if this one ends.
    if (!isAlone() || log.pending) return unpark(held, run.id);
    await letGo(held, run);
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
  await log.commit([], { records: [WAKINGS.drop(runId, token)], refusable: true });
}
