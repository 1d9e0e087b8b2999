import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft } from '../../shared/events.js';
import { follow, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { HistoryPlace } from '../../shared/operation-types.js';
import type { LogView } from '../log/log-view.js';
import { pathTo } from '../log/message-tree.js';
import { asUnavailable } from '../log/unavailable.js';
import type { RecordChange } from '../stores/records.js';
import { recordsOfSender } from './acceptance-plan.js';
import type { HeldSession } from './held-session.js';
import { assertNewIds, assertNotKept } from './message-ids.js';

/** Messages that begin no run, and the user who adds them. */
export interface AddedMessages {
  readonly messages: readonly Message[];
  readonly by: string;
  /** Key of the person who adds them, and so has read the conversation. */
  readonly reader: string;
}

/** The end of a conversation, and the messages that lead to it. */
export type AppendedMessages = HistoryPlace & Pick<AddedMessages, 'messages'>;

/**
 * Adds messages behind the last one. Those that were added before under these ids are the same result.
 *
 * @throws GatewayError `SESSION_BUSY` while a run is active or waits, `MESSAGE_EXISTS`; `OVERLOADED` if the store can't take it
 */
export function append(
  held: HeldSession,
  { messages, by, reader }: AddedMessages,
): Promise<AppendedMessages> {
  const { log, runs } = held;
  const { view } = log;
  const tip = messages.at(-1)!.id;
  return held.inTurn(async () => {
    const known = await asUnavailable(() => addedBefore(view, messages));
    if (known) return { messages: known, tip, cursor: view.cursor };
    const named = { ownIds: messages.map(({ id }) => id) };
    await assertNotKept(named, log);
    const drafts = (state: SessionState): readonly EventDraft[] => {
      const active = state.run ?? state.queue[0];
      if (active) throw new GatewayError({ code: 'SESSION_BUSY', details: { runId: active.runId } });
      assertNewIds(named, view, runs.all());
      const next = follow(state, ...messages);
      const { messageCount } = next;
      const placed = next.messages.slice(-messages.length);
      return [
        { type: 'history_moved', ts: Date.now(), added: true, tip, messageCount, by, messages: placed },
      ];
    };
    const records = (): readonly RecordChange[] => recordsOfSender(held, { reader }, 1);
    const { last } = await asUnavailable(() => log.commit(drafts, { refusable: true, records }));
    return { messages, tip, cursor: view.cursorAt(last) };
  });
}

/** These messages as the conversation has them; null unless it has all of them, one behind the other. */
async function addedBefore(view: LogView, messages: readonly Message[]): Promise<readonly Message[] | null> {
  const path = await pathTo(view, messages.at(-1)!.id, messages.length);
  const isSame = ({ id, role, content }: Message, at: number): boolean => {
    const had = path[at]!;
    const says = had.retracted !== undefined || isDeepStrictEqual(had.content, content);
    return had.id === id && had.role === role && says;
  };
  return path.length === messages.length && messages.every(isSame) ? path : null;
}
