import * as z from 'zod';
import { GatewayError } from '../../../shared/errors.js';
import type { EventDraft } from '../../../shared/events.js';
import type { Message, Retraction } from '../../../shared/messages.js';
import type { HeldSession } from '../../held/held-session.js';
import { asUnavailable } from '../../log/unavailable.js';
import { kind } from '../../records/kind.js';
import { isOpen } from '../../runs/ending.js';
import type { LiveRun } from '../../runs/live-run.js';
import { storeTime } from '../../stores/skew.js';

/** A message that is to be taken back. */
export interface AskedRetraction {
  readonly messageId: string;
  readonly retracted: Retraction;
}

/** Time after which another process drops the events, if the one that took the message back did not come to it, in milliseconds. */
const LATER_MS = 10_000;

/** Messages that were taken back, until the events that have them are dropped. */
export const RETRACTIONS = kind<{ readonly at: number }>({
  ...{ name: 'retraction', schema: z.object({ at: z.number() }), endsWith: 'conversation' },
  dueOf: ({ at }) => at,
});

/**
 * Takes a message back: one append says so to all readers, ends the runs that write or answer it, and changes its row. Then the events are dropped
 * that have what it said.
 *
 * @throws GatewayError `MESSAGE_NOT_FOUND`
 */
export async function retract(held: HeldSession, { messageId, retracted }: AskedRetraction): Promise<void> {
  const { log, runs, store } = held;
  const { view } = log;
  const [row] = await asUnavailable(() => store.messages(log.ref, { tip: messageId, limit: 1 }));
  const { run, queue, lanes = [], messages } = view.state;
  const told: readonly Message[] = [
    ...messages,
    ...view.aside.values(),
    ...(run ? [run.message] : []),
    ...queue.flatMap(({ message, preceding = [] }) => [...preceding, message]),
    ...lanes.flatMap(({ message, asked }) => [asked, message]),
  ];
  if (!row && !told.some(({ id }) => id === messageId)) {
    const details = { messageId, tip: view.state.tip };
    throw new GatewayError({ code: 'MESSAGE_NOT_FOUND', details });
  }
  const says = ({ request, messageId: answer }: LiveRun): boolean =>
    answer === messageId || [...request.preceding, request.message].some(({ id }) => id === messageId);
  const replaced: EventDraft = {
    ...{ type: 'message_replaced', ts: retracted.at, messageId, content: [], retracted },
  };
  const { epoch } = log.ref;
  const record = RETRACTIONS.put(messageId, { at: storeTime(store) + LATER_MS }, { epoch });
  await runs.endWith(runs.all().filter(says), {
    ending: { stopReason: 'moderated' },
    concerns: (state, each) => isOpen(state, each.id),
    cause: () => ({ events: [replaced], records: [record] }),
    options: {
      refusable: true,
      ...(row && { messages: [{ ...row, content: [], retracted }].map(withoutMore) }),
    },
  });
  runs.advance();
  await forget(held, { id: messageId });
}

/** A row without what came with the content. */
function withoutMore<Row extends Message>({ children: _, metadata: __, ...row }: Row): Row {
  return row as unknown as Row;
}

/** Drops the events that have what was taken back, and the mark that this is to be done. */
export async function forget({ log }: HeldSession, { id }: { readonly id: string }): Promise<void> {
  await asUnavailable(() => log.cutter.all());
  await log.commit([], { records: [RETRACTIONS.drop(id)], refusable: true });
}
