import { formatCursor } from '../../shared/cursor.js';
import type { Message } from '../../shared/messages.js';
import type { RunState } from '../../shared/operation-types.js';
import { isBeside, messageIdOf } from '../held/run-record.js';
import { pathTo } from '../log/message-tree.js';
import { openUnder } from '../runs/ending.js';
import type { Store } from '../stores/store.js';
import type { RunRecord } from '../stores/stored.js';
import type { Session } from './session.js';

/** The acceptance of a run, as its log has it. */
export interface RunOrigin {
  /** Absent if the log no longer has it. */
  readonly message?: Message;
  /** Number of runs that were ahead of it. */
  readonly position: number;
  /** Place just before `message_accepted`. */
  readonly cursor: string;
}

/** Finds the acceptance of a run, also in a past conversation. */
export async function originOf(
  store: Store,
  session: Session,
  { epoch, accepted }: RunRecord,
): Promise<RunOrigin> {
  const before = accepted - 1;
  const [event] = await store.read({ ...session.ref, epoch }, before, 1, 1);
  const kept = event?.seq === accepted ? (JSON.parse(event.body) as Omit<RunOrigin, 'cursor'>) : null;
  const log = session.log?.ref.epoch === epoch ? session.log : await session.pastLog(epoch);
  const cursor = formatCursor(epoch, log?.termAt(before) ?? 0, before);
  return { ...(kept && { message: kept.message }), position: kept?.position ?? 0, cursor };
}

/** The message of a run whose acceptance was cut, if its conversation is open and still has the message. */
export async function messageOf(
  { log }: Session,
  { epoch, runId, request, result }: RunRecord,
): Promise<Message | undefined> {
  if (log?.ref.epoch !== epoch) return undefined;
  const { queue } = await log.folded();
  const queued = queue.find((entry) => entry.runId === runId)?.message;
  if (queued) return queued;
  // An answer follows its message, unless its run was steered.
  const path = request === undefined ? await pathTo(log, result?.message.id ?? '', 2) : [];
  const id = request === undefined ? path.at(-1)?.parentId : messageIdOf(request);
  return id == null ? undefined : (await pathTo(log, id, 1))[0];
}

/** The state of a run, from its record and its session. A run waits if it or a child of it asks. */
export async function stateOf({ runId, request }: RunRecord, session: Session): Promise<RunState> {
  if (request === undefined) return 'ended';
  const { runId: active, status } = session.describe();
  if (!isBeside(request) && (active !== runId || status === 'idle')) return 'queued';
  if (status !== 'waiting' || !session.log) return 'running';
  const state = await session.log.folded();
  const tree = new Set([runId, ...openUnder(state, runId).map((child) => child.runId)]);
  return state.pending.some((question) => tree.has(question.runId ?? '')) ? 'waiting' : 'running';
}
