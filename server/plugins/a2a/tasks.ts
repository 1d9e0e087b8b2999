import { partsOfId } from '../../../shared/composed-id.js';
import type { GatewayEvent } from '../../../shared/events.js';
import type { SessionState } from '../../../shared/fold.js';
import type { RunInfo } from '../../../shared/operation-types.js';
import { SegmentStream } from '../../../shared/segment-stream.js';
import type { Person } from '../../auth/types.js';
import { orNull } from '../conversation/errors.js';
import { reading } from '../conversation/reading.js';
import { recallRun } from '../conversation/recall.js';
import { runIn } from '../conversation/runs.js';
import { isKept } from '../conversation/state.js';
import { segmentDialect } from '../conversation/told-segment.js';
import type { Dialect, PluginContext, PluginSession } from '../plugin.js';
import type { A2aEvent, A2aTask } from './objects.js';
import { A2aError } from './rpc.js';
import { TaskWriter } from './writer.js';

/** A task that was found. */
export interface FoundTask {
  readonly contextId: string;
  readonly session: PluginSession;
  readonly info: RunInfo;
}

/** The names of a task. */
interface NamedTask {
  readonly contextId: string;
  readonly info: Pick<RunInfo, 'runId'>;
}

/** A run that is told as a task: first the whole task as it is, then what changes. */
export class TaskStream extends SegmentStream<A2aEvent> {
  readonly writer: TaskWriter;
  #isTold = false;

  constructor({ contextId, info: { runId } }: NamedTask, pauses: boolean) {
    const writer = new TaskWriter(contextId, runId, pauses);
    super(runId, 'whole', writer);
    this.writer = writer;
  }

  override take(event: GatewayEvent): A2aEvent[] {
    return this.#told(super.take(event), this.over);
  }

  override head(): A2aEvent[] {
    return this.#told(super.head(), true);
  }

  override begin(state: SessionState): A2aEvent[] | null {
    const changes = super.begin(state);
    return changes && this.#told(changes, true);
  }

  #told(changes: A2aEvent[], isWhole: boolean): A2aEvent[] {
    if (this.#isTold) return changes;
    this.#isTold = isWhole;
    return isWhole ? [{ task: this.writer.task }] : [];
  }
}

/** Finds a task by its id. @throws A2aError `TASK_NOT_FOUND` */
export async function findTask(
  context: PluginContext,
  { app, id, person }: { readonly app: string; readonly id: string; readonly person: Person },
): Promise<FoundTask> {
  const [contextId = '', runId = '', ...more] = partsOfId(id) ?? [];
  const session = await orNull(async () => context.session(`${app}:${contextId}`, person));
  const info = session && more.length === 0 ? await runIn(session, runId) : null;
  if (session && info) return { contextId, session, info };
  throw new A2aError('TASK_NOT_FOUND', 'There is no such task');
}

/** A task as it is now, or once it is over or asks. */
export async function taskOf(
  found: FoundTask,
  { until = 'head', signal }: { readonly until?: 'head' | 'over'; readonly signal?: AbortSignal } = {},
): Promise<A2aTask> {
  const { session, info } = found;
  const stream = new TaskStream(found, until === 'over');
  if (await isKept(session, info.cursor)) {
    const dialect = reading(stream, until);
    await session.stream(dialect, { from: info.cursor, ...(signal && { signal }) }).over;
    return stream.writer.task;
  }
  const recalled = await recallRun(session, info.runId);
  if (!recalled) throw new A2aError('TASK_NOT_FOUND', 'The messages of this task are no longer kept');
  stream.writer.question = recalled.question;
  stream.say(recalled.answer);
  return stream.writer.task;
}

/**
 * Tells a task. A reader that missed something is cut off, and told the whole task when it comes back.
 *
 * @param pauses Whether the stream ends at a question
 */
export function taskDialect(
  found: FoundTask,
  { frame, pauses }: { readonly pauses: boolean; frame(event: A2aEvent): string },
): Dialect<unknown> {
  const { runId, cursor } = found.info;
  return segmentDialect(
    { runId, cursor, told: 'whole' },
    { stream: () => new TaskStream(found, pauses), frame },
  );
}
