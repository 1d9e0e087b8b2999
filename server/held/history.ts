import type { Compaction, Message } from '../../shared/messages.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import type { LogView } from '../log/log-view.js';
import { shownBefore } from '../log/message-tree.js';
import { firstSummaryOf } from '../runs/compacting.js';
import type { LiveRun } from '../runs/live-run.js';
import type { ShownHistory } from '../runs/live-turn.js';
import { summarized } from '../runs/summarized.js';

/** The messages before that of a run, as its app may ask for them. Notes the place of the run's own. */
export function historyOf(view: LogView, run: LiveRun): MaybePromise<ShownHistory> {
  const { message, lane } = run.request;
  const { id } = message;
  run.placed = lane ? null : (view.state.messages.findLast((each) => each.id === id) ?? null);
  // A child knows what its parent tells it.
  if (lane?.parentRunId !== undefined) return () => [];
  const holds = (compaction: Compaction): boolean => heldAtStart(run, compaction);
  return andThen(shownBefore(view, id), (before) => () => summarized(before(), holds).filter(says));
}

/** A run that is taken up is given what it was given at first: no summary that it made later, or that was made beside it. */
function heldAtStart({ id, resumed }: LiveRun, { id: summary, runId, at }: Compaction): boolean {
  return runId === id ? summary === firstSummaryOf(id) : resumed === null || at <= resumed.createdAt;
}

/** An answer that failed before it had content is not shown to a model either. */
const says = ({ content }: Message): boolean => content.length > 0;
