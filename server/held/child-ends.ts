import * as z from 'zod';
import type { UserContext } from '../../shared/contract.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { type Message, type StopReason, textOf } from '../../shared/messages.js';
import type { ChildTrigger } from '../apps/child.js';
import { newMessageId, newRunId, ownKey } from '../ids.js';
import { resultOf } from '../log/outcome.js';
import { asUnavailable } from '../log/unavailable.js';
import { type Kept, kind } from '../records/kind.js';
import type { RunRequest, RunSender, SenderGrant } from '../runs/live-run.js';
import type { RecordChange } from '../stores/records.js';
import { acceptWith, StaleRecord } from './acceptance.js';
import type { HeldSession } from './held-session.js';

/** Ends that leave nothing to go on with: a person or another message has decided. */
const SILENT: ReadonlySet<StopReason> = new Set(['superseded', 'taken_over']);

/** The end of a child, as its record has it. */
interface KeptEnd {
  readonly trigger: ChildTrigger;
  readonly user: UserContext | null;
  readonly grant?: SenderGrant | undefined;
  readonly dueAt?: number;
}

/** The records by which the end of a child begins a run of its session's app. */
export const CHILD_ENDS = kind<KeptEnd>({
  ...{ name: 'child-end', endsWith: 'conversation' },
  schema: z.object({
    trigger: z.looseObject({ runId: z.string() }),
    user: z.looseObject({ id: z.string() }).nullable(),
    grant: z.object({ id: z.string(), givenBy: z.string().exactOptional() }).exactOptional(),
    dueAt: z.number().exactOptional(),
  }) as unknown as z.ZodType<KeptEnd>,
  dueOf: ({ dueAt }) => dueAt,
});

/** The end of a child that is due. */
export interface DueEnd {
  readonly kept: Kept<KeptEnd>;
}

/** The records of children whose ends are about to be appended, and begin a run. */
export function childEndsOf(
  { events, before }: { readonly events: readonly GatewayEvent[]; readonly before: SessionState },
  epoch: string,
  dueAt: number,
  senderOf: (runId: string) => RunSender | null,
): readonly RecordChange[] {
  if (!before.lanes || events.some(({ type }) => type === 'session_closed')) return [];
  return events.flatMap((event) => {
    if (event.type !== 'message_end' || SILENT.has(event.stopReason)) return [];
    const lane = before.lanes!.find(({ runId, wakes }) => wakes && runId === event.runId);
    if (!lane) return [];
    const { runId, name: id = '', app } = lane;
    const trigger = { type: 'child', runId, id, app, stopReason: event.stopReason } as const;
    const { user = null, grant } = senderOf(runId) ?? {};
    return [CHILD_ENDS.put(runId, { trigger, user, grant, dueAt }, { epoch })];
  });
}

/** Begins the run of the session's app that the end of a child asks for. It begins once. */
export async function tellEnd(
  held: HeldSession,
  { kept: { id: runId, token, epoch, value } }: DueEnd,
): Promise<void> {
  const { log, ref, store } = held;
  const { trigger, user, grant } = value;
  const change = CHILD_ENDS.drop(runId, token);
  const record = await asUnavailable(() => store.run(ref, { runId }));
  // The child belonged to a conversation that is over.
  const isOver = epoch !== log.ref.epoch || !record;
  const result = isOver ? undefined : await asUnavailable(() => resultOf(store, ref, record));
  if (result) {
    try {
      const request = requestOf(trigger, { user, grant }, result.message);
      const accepted = await acceptWith(held, request, { drafts: () => [], records: [change] });
      if (!('duplicate' in accepted)) return;
    } catch (error) {
      if (error instanceof StaleRecord) return;
      throw error;
    }
  }
  await log.commit([], { records: [change], refusable: true });
}

function requestOf(trigger: ChildTrigger, sender: RunSender, answer: Message): RunRequest {
  const { id, runId, stopReason } = trigger;
  const text = textOf(answer) || `${id}: ${stopReason}`;
  const message: Message = {
    ...{ id: newMessageId(), role: 'user', content: [{ type: 'text', text }], createdAt: Date.now() },
    metadata: { childRunId: runId },
  };
  return {
    ...{ runId: newRunId(), message, preceding: [], onBusy: 'queue', key: ownKey('child', runId) },
    ...{ ...sender, metadata: {}, clientTools: [], parameters: {}, trigger },
  };
}
