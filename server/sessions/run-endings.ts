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
  ended(run: LiveRun, result: RunResult): void;
}

/** Ends runs in one append with its cause. The runs go on until the append is stored, and are unaffected if it is refused. */
export async function endRuns(log: LogWriter, caused: CausedEnding): Promise<Committed> {
  const { runs, ending, options } = caused;
  let over: readonly { readonly run: LiveRun; readonly execution: Execution | null }[] = [];
  let ends: readonly EventDraft[] = [];
  const drafts = (state: SessionState): readonly EventDraft[] => {
    const concerned = runs.filter((run) => caused.concerns(state, run));
    over = mapPacked(concerned, (run) => ({ run, execution: caused.execution(run) }));
    ends = over.flatMap(({ run }) => endDrafts(run, ending, state));
    if (over.length > 0 && caused.before) ends = [...caused.before(state), ...ends];
    return [...ends, ...caused.cause(state, ends)];
  };
  const acknowledged = (): void => {
    for (const { run, execution } of over) {
      execution?.seal();
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
    const outcomes = outcomesOf(ends);
    for (const { run, execution } of over) {
      const place = ends.findIndex(({ type, runId }) => type === 'message_end' && runId === run.id);
      const cursor = formatCursor(log.ref.epoch, log.term, committed.first + place);
      caused.ended(run, { cursor, ...outcomes.get(run.id)! });
      execution?.release(ending);
    }
    return committed;
  } finally {
    for (const run of runs) run.doomed = false;
  }
}

/** Whether a run is accepted and has not ended, according to the log. */
export function isOpen({ run, queue }: SessionState, runId: string): boolean {
  return run?.runId === runId || queue.some((entry) => entry.runId === runId);
}
