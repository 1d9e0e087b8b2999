import { formatCursor } from '../../shared/cursor.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { GroupOptions } from '../log/append-group.js';
import type { LogWriter } from '../log/log-writer.js';
import { outcomesOf } from '../log/outcome.js';
import { commitPlan, type Done, type Plan } from '../log/plan.js';
import { type Ending, endDrafts, PLAINER_ENDS } from '../runs/ending.js';
import type { Execution } from '../runs/execution.js';
import type { LiveRun } from '../runs/live-run.js';

/** A run that is over here, with what drove it. Nothing that either does has an effect any more. */
export interface EndedRun {
  readonly run: LiveRun;
  readonly execution: Execution | null;
}

/** Runs that end in the same append as the events that cause it. */
export interface CausedEnding<Cause extends Plan> {
  readonly ending: Ending;
  /** A run that the same append accepts, and may end. */
  readonly accepts?: LiveRun;
  readonly options: Omit<GroupOptions, 'ends' | 'acknowledged' | 'records' | 'forms'>;
  /** Whether a run has to end, given the state of the log just before the append. */
  concerns(state: SessionState, run: LiveRun): boolean;
  /** Events that come before the ends, if there are any. */
  before?(state: SessionState): readonly EventDraft[];
  /** Plans what causes the ends. Its events follow the given ones, which end the runs. */
  cause(state: SessionState, ends: readonly EventDraft[]): Cause;
  /** Called when the whole append is stored, before anything appended later is looked at. */
  acknowledged?(cause: Cause): void;
}

/** The work of a session with runs that end. */
export interface EndingRuns {
  /** The runs that may have to end. */
  readonly runs: readonly LiveRun[];
  /** Called when the end of a run is stored, before anything appended later is looked at. */
  seal(run: LiveRun): EndedRun;
  /** Called with the results of all runs that ended. */
  settle(results: ReadonlyMap<string, RunResult>, runs: readonly LiveRun[]): void;
}

/** The append that ends runs. */
interface EndPlan<Cause extends Plan> extends Plan {
  readonly over: readonly LiveRun[];
  readonly ends: readonly EventDraft[];
  readonly cause: Cause;
}

/** The results of the runs that events end, by run id. @param first Place of the first event */
export function resultsOf(
  { ref, term }: LogWriter,
  events: readonly EventDraft[],
  first: number,
): ReadonlyMap<string, RunResult> {
  const outcomes = outcomesOf(events);
  const results = new Map<string, RunResult>();
  events.forEach(({ type, runId = '' }, at) => {
    if (type !== 'message_end') return;
    results.set(runId, { cursor: formatCursor(ref.epoch, term, first + at), ...outcomes.get(runId)! });
  });
  return results;
}

/** One run of each id. A message that is sent again has a second one, until the store is found to have its key. */
function oneOfEach(runs: readonly LiveRun[]): readonly LiveRun[] {
  const byId = new Map<string, LiveRun>();
  for (const run of runs) if (!byId.has(run.id) || run.state !== 'accepting') byId.set(run.id, run);
  return [...byId.values()];
}

/**
 * Ends runs in one append with its cause. The runs go on until the append is stored, and are unaffected if it is refused. Ends that the store
 * can never keep are written as errors.
 */
export async function endRuns<Cause extends Plan>(
  log: LogWriter,
  { runs, seal, settle }: EndingRuns,
  { ending, accepts, options, concerns, before, cause, acknowledged }: CausedEnding<Cause>,
): Promise<Done<Cause>> {
  const make = (state: SessionState, refused: number): EndPlan<Cause> => {
    const concerned = runs.filter((run) => concerns(state, run));
    const over = concerned.flatMap((run) => run.tree);
    const own = oneOfEach(concerned).flatMap((run) => endDrafts(run, ending, state, { refused }));
    const ends = over.length > 0 && before ? [...before(state), ...own] : own;
    const caused = cause(state, ends);
    const { events, records = [] } = caused;
    return { events: [...ends, ...events], records, over, ends, cause: caused };
  };
  let ended: readonly EndedRun[] = [];
  const sealed = (plan: EndPlan<Cause>): void => {
    // Only now has a run its execution whose beginning was stored while this was on its way.
    ended = plan.over.map(seal);
    acknowledged?.(plan.cause);
  };
  for (const run of runs) run.doomed = true;
  try {
    const { plan, committed } = await commitPlan(log, make, {
      ends: accepts ? [...runs, accepts] : runs,
      forms: runs.length > 0 ? PLAINER_ENDS : 0,
      acknowledged: sealed,
      ...options,
    });
    if (!committed.duplicate && !committed.stale)
      settle(resultsOf(log, plan.ends, committed.first), plan.over);
    for (const { execution } of ended) execution?.release(ending);
    return { plan: plan.cause, committed };
  } finally {
    for (const run of runs) run.doomed = false;
  }
}
