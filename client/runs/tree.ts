import type { ActiveRun, LaneRun, PendingQuestion, SessionState } from '../../shared/fold.js';
import {
  type ChildAnswer,
  type LanePlace,
  type Message,
  type StopReason,
  textOf,
} from '../../shared/messages.js';

/** A run among the others of its session, with its children. */
export interface RunNode
  extends Pick<Partial<LanePlace>, 'parentRunId' | 'callId' | 'detached' | 'keep' | 'asked' | 'steering'>,
    Pick<ActiveRun, 'runId' | 'app' | 'message' | 'error' | 'progress' | 'usage'> {
  /** The child's id among the children of its parent. Other runs have the name of their app. */
  readonly name: string;
  /** Number of its lane; 0 is the conversation. */
  readonly lane: number;
  /** `waiting`: for somebody's answer. A run that is over has its stop reason. */
  readonly status: 'running' | 'waiting' | StopReason;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** The text of its answer so far. */
  readonly text: string;
  /** The calls that somebody has to answer before it goes on: see `pending` of the session. */
  readonly pendingCallIds: readonly string[];
  /** Its children, in the order of their beginnings. */
  readonly children: readonly RunNode[];
}

/** The part of a session that has its runs. */
export type RunningState = Pick<SessionState, 'run' | 'lanes' | 'pending'>;

/**
 * The runs of a session as a tree: first the run of the conversation, with its children below it, then those that nobody's end ends: lanes of people and
 * detached children. Runs that are over stay until the first of their tree is. Pure.
 *
 * @example
 * ```ts
 * for (const { name, status, children } of runTree(await client.session('main').state())) console.log(name, status, children.length);
 * ```
 */
export function runTree({ run, lanes = [], pending }: RunningState): readonly RunNode[] {
  return treeOf(run ? [{ ...run, lane: 0 }, ...lanes] : lanes, pending);
}

/**
 * The child runs of an answer that is over, as a tree. Pure.
 *
 * @example
 * ```ts
 * const { messages } = await client.session('main').state();
 * for (const { name, text } of messages.flatMap(childrenOf)) console.log(name, text);
 * ```
 */
export function childrenOf({ children = [] }: Pick<Message, 'children'>): readonly RunNode[] {
  return treeOf(children, []);
}

/** A run of either kind. */
type TreeRun = ActiveRun & Pick<RunNode, 'lane'> & Partial<LaneRun | ChildAnswer>;

/** Puts each run below its parent, which comes before it. A detached one is nobody's. */
function treeOf(runs: readonly TreeRun[], pending: readonly PendingQuestion[]): readonly RunNode[] {
  const roots: RunNode[] = [];
  const lists = new Map<string | undefined, RunNode[]>();
  for (const { name, stopReason, ...run } of runs) {
    const { runId, app, message, parentRunId, detached } = run;
    const asks = pending.flatMap((question) => (question.runId === runId ? [question.callId] : []));
    const children: RunNode[] = [];
    lists.set(runId, children);
    const siblings = (!detached && lists.get(parentRunId)) || roots;
    siblings.push({
      ...run,
      name: name ?? app,
      status: stopReason ?? (asks[0] ? 'waiting' : 'running'),
      startedAt: message.createdAt,
      text: textOf(message),
      pendingCallIds: asks,
      children,
    });
  }
  return roots;
}
