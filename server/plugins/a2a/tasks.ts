import { partsOfId } from '../../../shared/composed-id.js';
import { GatewayError } from '../../../shared/errors.js';
import type { RunInfo } from '../../../shared/operation-types.js';
import { SegmentStream } from '../../../shared/segment-stream.js';
import type { Person } from '../../auth/types.js';
import { orNull } from '../conversation/errors.js';
import { reading } from '../conversation/reading.js';
import { recall } from '../conversation/recall.js';
import { isKept, stateOf } from '../conversation/state.js';
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

/** A run that is told as a task. */
class TaskStream extends SegmentStream<A2aEvent> {
  readonly writer: TaskWriter;

  constructor({ contextId, info: { runId } }: FoundTask, pauses: boolean) {
    const writer = new TaskWriter(contextId, runId, pauses);
    super(runId, 'whole', writer);
    this.writer = writer;
  }
}

/** Finds a task by its id. @throws A2aError `TASK_NOT_FOUND` */
export async function findTask(
  context: PluginContext,
  { app, id, person }: { readonly app: string; readonly id: string; readonly person: Person },
): Promise<FoundTask> {
  const [contextId = '', runId = '', ...more] = partsOfId(id) ?? [];
  const found = await orNull(async () => {
    const session = context.session(`${app}:${contextId}`, person);
    const info = await session.run(runId).status();
    return info.sessionId === session.id && more.length === 0 ? { contextId, session, info } : null;
  });
  if (found) return found;
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
  const { run, messages = [] } = (await stateOf(session)) ?? {};
  const running = run?.runId === info.runId ? run.message : undefined;
  const recalled = running
    ? { answer: running, question: messages.find(({ id }) => id === running.parentId) }
    : await recall(session, ({ runId }) => runId === info.runId);
  if (!recalled) throw new A2aError('TASK_NOT_FOUND', 'The messages of this task are no longer kept');
  stream.writer.question = recalled.question;
  stream.say(recalled.answer);
  return stream.writer.task;
}

/**
 * Tells a task: first as it is, then what changes. A reader that missed something is cut off, and told the whole task when it comes back.
 *
 * @param pauses Whether the stream ends at a question
 */
export function taskDialect(
  found: FoundTask,
  { frame, pauses }: { readonly pauses: boolean; frame(event: A2aEvent): string },
): Dialect<TaskStream> {
  const stream = new TaskStream(found, pauses);
  let [isBegun, isTold, isGap] = [false, false, false];
  const told = (events: readonly A2aEvent[], isHead: boolean) => {
    const isFirst = !isTold && (isHead || stream.over);
    const said = isFirst ? [{ task: stream.writer.task }] : isTold ? events : [];
    isTold ||= isFirst;
    return { state: stream, text: said.map(frame).join(''), over: stream.over };
  };
  return {
    begin(session) {
      if (isBegun && (!isGap || isTold || !stream.begin(session)))
        throw new GatewayError({ code: 'CURSOR_GONE' });
      if (isBegun) return told([], true);
      isBegun = true;
      return { state: stream, text: ':\n\n' };
    },
    encode(_, events, { isHead }) {
      const frames: A2aEvent[] = [];
      for (const event of events) {
        if (event.type === 'auth_expired') throw new GatewayError({ code: 'UNAUTHENTICATED' });
        isGap ||= event.type === 'gap';
        if (!isGap || isTold) frames.push(...stream.take(event));
        if (stream.over) break;
      }
      if (isGap && !isTold) return { state: stream, text: '' };
      if (isHead) frames.push(...stream.head());
      return told(frames, isHead);
    },
  };
}
