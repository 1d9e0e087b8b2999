import { parseCursor } from '../../shared/cursor.js';
import type { EventDraft } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import { pick } from '../../shared/pick.js';
import type { RunEnd } from '../stores/append.js';
import type { Store } from '../stores/store.js';
import type { KeptResult, LogRef, RunRecord, SessionRef } from '../stores/stored.js';

type RunOutcome = Omit<RunResult, 'cursor'>;
type EndDraft = EventDraft & { readonly type: 'message_end' };
type AnswerStore = Pick<Store, 'read' | 'messages'>;

/** The outcomes of runs from the events that end them, by run id. */
export function outcomesOf(events: readonly Pick<EventDraft, 'type'>[]): ReadonlyMap<string, RunOutcome> {
  return new Map(endsIn(events).map(([, outcome]) => [outcome.runId, outcome]));
}

/** The ends of runs from the events that end them, as a store keeps them. */
export function keptEndsOf(events: readonly Pick<EventDraft, 'type'>[]): readonly RunEnd[] {
  return endsIn(events).map(([end, outcome]) => {
    const { content, ...named } = outcome.message;
    const message = hasRow(end) ? named : outcome.message;
    return { runId: outcome.runId, result: { ...outcome, message } };
  });
}

function endsIn(events: readonly Pick<EventDraft, 'type'>[]): readonly (readonly [EndDraft, RunOutcome])[] {
  const ends: (readonly [EndDraft, RunOutcome])[] = [];
  const errors = new Map<string, RunResult['error']>();
  for (const event of events as readonly EventDraft[]) {
    if (event.type === 'run_error') errors.set(event.runId!, { code: event.code, message: event.message });
    if (event.type !== 'message_end') continue;
    const { message, stopReason, intoRunId } = event;
    const runId = event.runId!;
    const error = errors.get(runId);
    const outcome = {
      runId,
      message,
      stopReason,
      ...pick(event, 'usage', 'totalUsage'),
      ...(intoRunId !== undefined && { intoRunId }),
      ...(error && { error }),
    };
    ends.push([event, outcome]);
  }
  return ends;
}

/** Whether the answer surely becomes a message of the conversation. An empty one may be left out, and one of a lane may stay beside it. */
function hasRow({ message, lane, parentRunId }: EndDraft): boolean {
  return message.content.length > 0 && lane === undefined && parentRunId === undefined;
}

/** The result of a run; undefined before its end, or if its answer is no longer kept. @throws StoreError */
export async function resultOf(
  store: AnswerStore,
  ref: SessionRef,
  { epoch, result }: RunRecord,
): Promise<RunResult | undefined> {
  if (!result) return undefined;
  const { content: kept, id, role, ...others } = result.message;
  const content = kept ?? (await contentOf(store, { ...ref, epoch }, result));
  // In the order in which the first answer had them.
  return content && { ...result, message: { id, role, content, ...others } };
}

/** The content of an answer: from the event at its place, or from its row once that is cut. */
async function contentOf(
  store: AnswerStore,
  log: LogRef,
  { cursor, message: { id } }: KeptResult,
): Promise<Message['content'] | undefined> {
  const { seq } = parseCursor(cursor)!;
  const [event] = await store.read(log, seq - 1, 1, 1);
  if (event?.seq === seq) return (JSON.parse(event.body) as EndDraft).message.content;
  const [row] = await store.messages(log, { tip: id, limit: 1 });
  return row?.content;
}
