import { formatCursor } from '../../shared/cursor.js';
import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { RunResult } from '../../shared/operation-types.js';
import { type Ending, type Execution, endDrafts } from '../runs/execution.js';
import type { Run } from '../runs/run.js';
import type { Committed, GroupOptions } from './append-group.js';
import type { SessionLog } from './log.js';
import { outcomesOf } from './outcome.js';

/** Runs that end because of something that is stored with their ends. */
export interface CausedEnding {
  readonly runs: readonly { readonly run: Run; readonly execution: Execution | null }[];
  readonly ending: Ending;
  /** What causes it; comes after the ends. */
  readonly after: EventDraft;
  readonly options: GroupOptions;
  /** The end is stored: the run is over. Called before anything that was appended later is looked at. */
  sealed(run: Run): void;
  ended(run: Run, result: RunResult): void;
}

/** Ends runs in one append with its cause. They go on until that is stored; if it is refused, nothing has happened to them. */
export async function endRuns(log: SessionLog, cause: CausedEnding): Promise<Committed> {
  const { runs, ending, after, options } = cause;
  let outcomes: ReturnType<typeof outcomesOf> = new Map();
  let places: (string | undefined)[] = [];
  const drafts = (state: SessionState): readonly EventDraft[] => {
    const open = runs.filter(({ run }) => isOpen(state, run.id));
    const ends = open.flatMap(({ run, execution }) => endsOf(run, execution, ending, state));
    outcomes = outcomesOf(ends);
    places = ends.map((event) => (event.type === 'message_end' ? event.runId : undefined));
    return [...ends, after];
  };
  const acknowledged = (): void => {
    for (const { run, execution } of runs) {
      execution?.seal();
      run.state = 'ended';
      cause.sealed(run);
    }
    options.acknowledged?.();
  };
  for (const { run } of runs) run.doomed = true;
  try {
    const ends = runs.map(({ run }) => endOf(run));
    const committed = await log.commit(drafts, { ...options, ends, acknowledged });
    if (committed.duplicate) return committed;
    for (const { run, execution } of runs) {
      const outcome = outcomes.get(run.id);
      const cursor = formatCursor(log.ref.epoch, log.term, committed.first + places.indexOf(run.id));
      if (outcome) cause.ended(run, { ...outcome, cursor });
      execution?.release(ending);
    }
    return committed;
  } finally {
    for (const { run } of runs) run.doomed = false;
  }
}

/** The events that end a run, whether or not it has started. */
export function endsOf(
  run: Run,
  execution: Execution | null,
  ending: Ending,
  state: SessionState,
): readonly EventDraft[] {
  return execution?.endDrafts(ending, state) ?? endDrafts(run, ending, run.emptyAnswer(), null);
}

/** A run as one that an append may end. */
export function endOf(run: Run): { readonly id: string; readonly key: string | undefined } {
  return { id: run.id, key: run.request.key };
}

/** Whether a run has been accepted and not ended, as the log has it. */
export function isOpen({ run, queue }: SessionState, runId: string): boolean {
  return run?.runId === runId || queue.some((entry) => entry.runId === runId);
}
