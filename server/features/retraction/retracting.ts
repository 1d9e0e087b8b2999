import * as z from 'zod';
import { GatewayError } from '../../../shared/errors.js';
import type { EventDraft } from '../../../shared/events.js';
import type { Retraction } from '../../../shared/messages.js';
import type { HeldSession } from '../../held/held-session.js';
import { asUnavailable } from '../../log/unavailable.js';
import { kind } from '../../records/kind.js';
import { isOpen } from '../../runs/ending.js';
import type { LiveRun } from '../../runs/live-run.js';
import { storeTime } from '../../stores/skew.js';
import { rewritingOf, shownIn, uncut } from './rewriting.js';

/** A message that is to be taken back. */
export interface AskedRetraction {
  readonly messageId: string;
  readonly retracted: Retraction;
}

/** Time after which another process looks for what is left, if the one that took the message back did not come to it, in milliseconds. */
const LATER_MS = 10_000;

/** Messages that were taken back, until nothing is left of them. */
export const RETRACTIONS = kind<{ readonly at: number }>({
  ...{ name: 'retraction', schema: z.object({ at: z.number() }), endsWith: 'conversation' },
  dueOf: ({ at }) => at,
});

/**
 * Takes a message back: one append says so to all readers, ends the runs that write or answer it, and gives its row and the events that have it
 * another text, at their places. A second append does so for events that came while that was on its way.
 *
 * @throws GatewayError `MESSAGE_NOT_FOUND`
 */
export async function retract(held: HeldSession, asked: AskedRetraction): Promise<void> {
  const { log, runs, store } = held;
  const { messageId } = asked;
  const [row] = await asUnavailable(() => store.messages(log.ref, { tip: messageId, limit: 1 }));
  if (!row && !shownIn(held).some(({ id }) => id === messageId)) {
    const details = { messageId, tip: log.view.state.tip };
    throw new GatewayError({ code: 'MESSAGE_NOT_FOUND', details });
  }
  const says = ({ request, messageId: answer }: LiveRun): boolean =>
    answer === messageId || [...request.preceding, request.message].some(({ id }) => id === messageId);
  await uncut(held);
  const { grown, ...changes } = await asUnavailable(() => rewritingOf(held, asked));
  const { epoch } = log.ref;
  const record = RETRACTIONS.put(messageId, { at: storeTime(store) + LATER_MS }, { epoch });
  await runs.endWith(runs.all().filter(says), {
    ending: { stopReason: 'moderated' },
    concerns: (state, each) => isOpen(state, each.id),
    cause: () => ({ events: [replacing(asked)], records: [record] }),
    options: { refusable: true, ...changes },
    acknowledged: () => log.view.rewritten(changes.rewrites, grown),
  });
  runs.advance();
  await forget(held, { id: messageId });
}

const replacing = ({ messageId, retracted }: AskedRetraction): EventDraft => ({
  ...{ type: 'message_replaced', ts: retracted.at, messageId, content: [], retracted },
});

/** Rewrites what is left of a message that was taken back, and drops the mark that this is to be done. */
export async function forget(held: HeldSession, { id: messageId }: { readonly id: string }): Promise<void> {
  const { log, store } = held;
  await uncut(held);
  const [row] = await asUnavailable(() => store.messages(log.ref, { tip: messageId, limit: 1 }));
  const shown = [...shownIn(held), ...(row ? [row] : [])];
  const retracted = shown.find(({ id, retracted: is }) => id === messageId && is)?.retracted;
  const records = [RETRACTIONS.drop(messageId)];
  if (!retracted) return void (await log.commit([], { records, refusable: true }));
  const asked = { messageId, retracted };
  const { rewrites, messages, grown } = await asUnavailable(() => rewritingOf(held, asked));
  const isLeft = rewrites.events.length > 0 || rewrites.checkpoint || messages.length > 0;
  // Gateways that follow forget what they have in memory once they are told again.
  await log.commit(isLeft ? [replacing(asked)] : [], {
    ...{ records, refusable: true },
    ...(isLeft && { rewrites, messages, acknowledged: () => log.view.rewritten(rewrites, grown) }),
  });
}
