import { formatCursor } from '../../shared/cursor.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { mapPacked } from '../../shared/map-packed.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { Committed, GroupOptions } from '../log/append-group.js';
import type { LogWriter } from '../log/log-writer.js';
import { outcomesOf } from '../log/outcome.js';
import { type Ending, endDrafts } from '../runs/ending.js';
import type { Execution } from '../runs/execution.js';
import type { LiveRun } from '../runs/live-run.js';

/** Runs that end in the same append as the events that cause it. */
export interface CausedEnding {
  /** The runs that may have to end. */
  readonly runs: readonly LiveRun[];
  readonly ending: Ending;
  readonly options: Omit<GroupOptions, 'ends' | 'acknowledged'>;
  /** Whether a run has to end, given the state of the log just before the append. */
  concerns(state: SessionState, run: LiveRun): boolean;
  execution(run: LiveRun): Execution | null;
  /** Events that come before the ends, if there are any. */
  before?(state: SessionState): readonly EventDraft[];
  /** The events that cause the ends. They follow the given end events. */
  cause(state: SessionState, ends: readonly EventDraft[]): readonly EventDraft[];
  /** Called when the end of a run is stored, before anything appended later is looked at. The run is over. */
  sealed(run: LiveRun): void;
  /** Called when the whole append is stored, before anything appended later is looked at. */
  acknowledged?(): void;
  /** Called with the results of all runs that ended. */
  ended(results: ReadonlyMap<string, RunResult>, runs: readonly LiveRun[]): void;
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

/** Ends runs in one append with its cause. The runs go on until the append is stored, and are unaffected if it is refused. */
export async function endRuns(log: LogWriter, caused: CausedEnding): Promise<Committed> {
  const { runs, ending, options } = caused;
  let over: readonly LiveRun[] = [];
  let stopped: readonly (Execution | null)[] = [];
  let ends: readonly EventDraft[] = [];
  const drafts = (state: SessionState): readonly EventDraft[] => {
    const concerned = runs.filter((run) => caused.concerns(state, run));
    over = concerned.flatMap((run) => run.tree);
    ends = concerned.flatMap((run) => endDrafts(run, ending, state));
    if (over.length > 0 && caused.before) ends = [...caused.before(state), ...ends];
    return [...ends, ...caused.cause(state, ends)];
  };
  const acknowledged = (): void => {
    // A run whose beginning was stored while this was on its way has its execution only now.
    stopped = mapPacked(over, caused.execution);
    for (const [i, run] of over.entries()) {
      stopped[i]?.seal();
      run.state = 'ended';
      caused.sealed(run);
    }
    caused.acknowledged?.();
  };
  for (const run of runs) run.doomed = true;
  try {
    const committed = await log.commit(drafts, {
      ends: runs,
      acknowledged,
      ...options,
    });
    if (committed.duplicate || committed.stale) return committed;
    caused.ended(resultsOf(log, ends, committed.first), over);
    for (const execution of stopped) execution?.release(ending);
    return committed;
  } finally {
    for (const run of runs) run.doomed = false;
  }
}
