import type { EventDraft } from '../../shared/events.js';
import type { LaneRun, SessionState } from '../../shared/fold.js';
import { addUsage, type Message, type StopReason, type Usage, withoutPlace } from '../../shared/messages.js';
import { pick } from '../../shared/pick.js';
import type { AnswerNotes } from './answer-notes.js';
import type { LiveRun } from './live-run.js';

/** How a run ends. */
export interface Ending {
  readonly stopReason: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
  readonly intoRunId?: string;
  /** Reason of the app's abort signal. */
  readonly reason?: string | undefined;
}

/** How much of an end is written, for a store that can never keep the rest: all, no notes of the app, nor the answer, which the log has in pieces. */
const FORMS = ['whole', 'bare', 'empty'] as const;

/** How many plainer forms the end of a run has. */
export const PLAINER_ENDS = FORMS.length - 1;

/** The end of a run whose own end the store can never keep. */
const REFUSED: Ending = {
  stopReason: 'error',
  error: { code: 'INVALID_PARAMS', message: 'The store cannot keep this' },
};

/** Reasons that are the same for the children of a run. */
const PASSED_ON: ReadonlySet<StopReason> = new Set(['superseded', 'timeout', 'lost', 'taken_over']);

/**
 * The events that end a run and before it all its children, by the state of the log just before them. They carry the answers as far as these
 * are in the log, whatever ends the run and whether or not it has started.
 *
 * @param tree The run and its children under way here
 * @param refused How many forms of the end the store can never keep. The next one is plainer, and an error.
 */
export function endDrafts(
  run: LiveRun,
  asked: Ending,
  state: SessionState,
  {
    tree = run.tree,
    refused = 0,
  }: { readonly tree?: readonly LiveRun[] | undefined; readonly refused?: number } = {},
): readonly EventDraft[] {
  const form = FORMS[refused]!;
  const ending = form === 'whole' ? asked : REFUSED;
  const { stopReason } = ending;
  const inherited: Ending = { stopReason: PASSED_ON.has(stopReason) ? stopReason : 'aborted' };
  const notes = new Map(form === 'whole' ? tree.map((each) => [each.id, each.notes]) : []);
  const shown = (message: Message): Message => (form === 'empty' ? { ...message, content: [] } : message);
  const end = (lane: EndingLane, how: Ending): EventDraft =>
    endOf({ ...lane, ...totalOf(state, lane), message: shown(lane.message) }, how, notes.get(lane.runId));
  const children = openUnder(state, run.id).map((child) => end(child, inherited));
  const lane = laneOf(state, run.id);
  const said = lane ?? (state.run?.runId === run.id ? state.run : null);
  const own = end(
    { ...lane, ...(said && pick(said, 'usage')), runId: run.id, message: said?.message ?? run.emptyAnswer() },
    ending,
  );
  const { error } = ending;
  const base = { runId: run.id, ts: Date.now() };
  return [...children, ...(error ? [{ type: 'run_error', ...base, ...error } as const] : []), own];
}

/** A run, as its `message_end` has it. */
type EndingLane = Pick<LaneRun, 'runId' | 'message'> & Partial<LaneRun>;

/** The `message_end` of a run. */
function endOf(
  { runId, message: said, lane, parentRunId, usage, totalUsage }: EndingLane,
  { stopReason, intoRunId }: Ending,
  notes: AnswerNotes | undefined,
): EventDraft {
  const message = withoutPlace(said);
  return {
    ...{ type: 'message_end', runId, ts: Date.now(), stopReason },
    ...(intoRunId !== undefined && { intoRunId }),
    ...(lane !== undefined && { lane }),
    ...(parentRunId !== undefined && { parentRunId }),
    ...(usage && { usage }),
    ...(totalUsage && { totalUsage }),
    message: notes ? notes.annotated(message) : message,
  };
}

/** All that a run and those under it have used; nothing if no run under it has used anything. */
function totalOf(
  { lanes = [] }: SessionState,
  { runId, usage }: Pick<LaneRun, 'runId' | 'usage'>,
): Pick<LaneRun, 'totalUsage'> {
  const above = new Set([runId]);
  let under: Usage | undefined;
  for (const lane of lanes) {
    if (!above.has(lane.parentRunId ?? '')) continue;
    above.add(lane.runId);
    if (lane.usage) under = addUsage(under, lane.usage);
  }
  return under ? { totalUsage: usage ? addUsage(usage, under) : under } : {};
}

/** A run beside the conversation, by its id. */
export function laneOf({ lanes }: SessionState, runId: string): LaneRun | undefined {
  return lanes?.find((lane) => lane.runId === runId);
}

/** The open children of a run that end with it, and theirs, children before their parents. */
export function openUnder({ lanes = [] }: SessionState, runId: string): readonly LaneRun[] {
  const above = new Set([runId]);
  const open: LaneRun[] = [];
  for (const lane of lanes) {
    if (lane.stopReason || lane.detached || !above.has(lane.parentRunId ?? '')) continue;
    above.add(lane.runId);
    open.push(lane);
  }
  return open.reverse();
}

/** Whether a run is accepted and has not ended, according to the log. */
export function isOpen(state: SessionState, runId: string): boolean {
  const { run, queue } = state;
  if (run?.runId === runId || queue.some((entry) => entry.runId === runId)) return true;
  const lane = laneOf(state, runId);
  return lane !== undefined && lane.stopReason === undefined;
}
