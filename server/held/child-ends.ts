import type { UserContext } from '../../shared/contract.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { type Message, type StopReason, textOf } from '../../shared/messages.js';
import type { ChildTrigger } from '../apps/child.js';
import { newMessageId, newRunId, ownKey } from '../ids.js';
import { resultOf } from '../log/outcome.js';
import { asUnavailable } from '../log/unavailable.js';
import type { RunRequest } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import { acceptWith, StaleRecord } from './acceptance.js';
import type { HeldSession } from './held-session.js';

/** Kind of the records by which the end of a child begins a run of its session's app. */
export const CHILD_END = 'child-end';

/** Ends that leave nothing to go on with: a person or another message has decided. */
const SILENT: ReadonlySet<StopReason> = new Set(['superseded', 'taken_over']);

/** The end of a child, as its record has it. */
interface KeptEnd {
  readonly epoch: string;
  readonly trigger: ChildTrigger;
  readonly user: UserContext | null;
}

/** The end of a child that is due. */
export interface DueEnd {
  readonly value: string;
  readonly token: number;
}

/** The records of children whose ends are about to be appended, and begin a run. */
export function childEndsOf(
  { events, before }: { readonly events: readonly GatewayEvent[]; readonly before: SessionState },
  epoch: string,
  dueAt: number,
  userOf: (runId: string) => UserContext | null,
): readonly RecordChange[] {
  if (!before.lanes || events.some(({ type }) => type === 'session_closed')) return [];
  return events.flatMap((event) => {
    if (event.type !== 'message_end' || SILENT.has(event.stopReason)) return [];
    const lane = before.lanes!.find(({ runId, wakes }) => wakes && runId === event.runId);
    if (!lane) return [];
    const { runId, name: id = '', app } = lane;
    const trigger = { type: 'child', runId, id, app, stopReason: event.stopReason } as const;
    const kept: KeptEnd = { epoch, trigger, user: userOf(runId) };
    return [{ kind: CHILD_END, id: runId, dueAt, value: JSON.stringify(kept) }];
  });
}

/** Begins the run of the session's app that the end of a child asks for. It begins once. */
export async function tellEnd(held: HeldSession, { value, token }: DueEnd): Promise<void> {
  const { log, ref, store } = held;
  const { epoch, trigger, user } = JSON.parse(value) as KeptEnd;
  const { runId } = trigger;
  const change: RecordChange = { kind: CHILD_END, id: runId, token };
  const record = await asUnavailable(() => store.run(ref, { runId }));
  // The child belonged to a conversation that is over.
  const isOver = epoch !== log.ref.epoch || !record;
  const result = isOver ? undefined : await asUnavailable(() => resultOf(store, ref, record));
  if (result) {
    try {
      const request = requestOf(trigger, user, result.message);
      const accepted = await acceptWith(held, request, { drafts: () => [], records: [change] });
      if (!('duplicate' in accepted)) return;
    } catch (error) {
      if (error instanceof StaleRecord) return;
      throw error;
    }
  }
  await log.commit([], { records: [change], refusable: true });
}

function requestOf(trigger: ChildTrigger, user: UserContext | null, answer: Message): RunRequest {
  const { id, runId, stopReason } = trigger;
  const text = textOf(answer) || `${id}: ${stopReason}`;
  const message: Message = {
    ...{ id: newMessageId(), role: 'user', content: [{ type: 'text', text }], createdAt: Date.now() },
    metadata: { childRunId: runId },
  };
  return {
    ...{ runId: newRunId(), message, preceding: [], onBusy: 'queue', key: ownKey('child', runId) },
    ...{ user, metadata: {}, clientTools: [], parameters: {}, trigger },
  };
}
