import type { GatewayEvent } from './events.js';
import type { LaneRun, PendingQuestion, SessionState } from './fold.js';
import { type ChildAnswer, type Message, type StopReason, textOf } from './messages.js';
import { pick } from './pick.js';

/** A child run as interfaces of other protocols show it. */
export interface Subagent {
  readonly runId: string;
  /** The run that began it: the answer's own run, or another child. */
  readonly parentRunId?: string;
  /** Its name among the children of its parent. */
  readonly name?: string;
  readonly app: string;
  /** The call for which it works. */
  readonly callId?: string;
  /** `waiting`: it has asked a question that nobody has answered yet. */
  readonly state: 'running' | 'waiting' | 'ended';
  /** The text of its answer so far. */
  readonly text: string;
  /** Why it ended. */
  readonly stopReason?: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
}

interface KnownSubagent {
  shown: Subagent;
  /** Length of the text that was told last. */
  told: number;
  readonly open: Set<string>;
}

/** The least growth of a text that is told again. */
const GROWTH = 64;

/**
 * Folds the events of child runs into what interfaces show of them. A text is told whole, so it is told again only after it has grown by an eighth:
 * all tellings together are then at most about nine times as long as the text.
 */
export class Subagents {
  readonly #known = new Map<string, KnownSubagent>();

  /** Takes an event of a child run, or its beginning. Null if there is nothing to tell yet. */
  take(event: GatewayEvent & { readonly runId?: string }): Subagent | null {
    const { runId = '' } = event;
    if (event.type === 'run_spawned') return this.#add(shownOf({ ...event, runId }, 'running', ''), []);
    const known = this.#known.get(runId);
    if (!known) return null;
    const { shown, open } = known;
    switch (event.type) {
      case 'content_delta': {
        const text = shown.text + event.delta;
        known.shown = { ...shown, text };
        return text.length < known.told + Math.max(GROWTH, known.told / 8) ? null : tell(known);
      }
      case 'tool_confirmation_required':
      case 'input_required':
        open.add(event.callId);
        return tell(known, { state: 'waiting' });
      case 'tool_confirmation_result':
      case 'input_result':
        if (!open.delete(event.callId)) return null;
        return tell(known, { state: open.size > 0 ? 'waiting' : 'running' });
      case 'run_error':
        known.shown = { ...shown, error: pick(event, 'code', 'message') };
        return null;
      case 'message_end':
        return tell(known, { state: 'ended', text: textOf(event.message), stopReason: event.stopReason });
      default:
        return null;
    }
  }

  /** Continues with a run of a snapshot. @param open The calls about which it asks */
  adopt(run: LaneRun, open: readonly string[]): Subagent {
    return this.#add(subagentOf(run, open.length > 0), open);
  }

  #add(shown: Subagent, open: readonly string[]): Subagent {
    this.#known.set(shown.runId, { shown, told: shown.text.length, open: new Set(open) });
    return shown;
  }
}

function tell(known: KnownSubagent, change: Partial<Subagent> = {}): Subagent {
  known.shown = { ...known.shown, ...change };
  known.told = known.shown.text.length;
  return known.shown;
}

/** The open questions of a run and of all runs below it. */
export function questionsOf(
  { pending, lanes = [] }: Pick<SessionState, 'pending' | 'lanes'>,
  runId: string,
): readonly PendingQuestion[] {
  const tree = new Set([runId]);
  for (const lane of lanes) if (tree.has(lane.parentRunId ?? '')) tree.add(lane.runId);
  return pending.filter((question) => tree.has(question.runId ?? ''));
}

/** The open questions of the active run, and of all runs below it. */
export function openQuestions(state: SessionState): readonly PendingQuestion[] {
  return state.run ? questionsOf(state, state.run.runId) : [];
}

/** The ended child runs of an answer. */
export function subagentsIn({ children = [] }: Pick<Message, 'children'>): readonly Subagent[] {
  return children.map((child) => subagentOf(child, false));
}

function subagentOf(run: LaneRun | ChildAnswer, isWaiting: boolean): Subagent {
  const { stopReason } = run;
  const state = stopReason ? 'ended' : isWaiting ? 'waiting' : 'running';
  return { ...shownOf(run, state, textOf(run.message)), ...pick(run, 'stopReason', 'error') };
}

function shownOf(
  run: Pick<Subagent, 'runId' | 'parentRunId' | 'name' | 'app' | 'callId'>,
  state: Subagent['state'],
  text: string,
): Subagent {
  return { ...pick(run, 'runId', 'parentRunId', 'name', 'app', 'callId'), state, text };
}
