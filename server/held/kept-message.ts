import type { EventDraft } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { endDrafts } from '../runs/ending.js';
import type { LiveRun } from '../runs/live-run.js';

/** A message that was sent while a person has control. It stays in the conversation, and its run ends without an answer. */
export interface KeptMessage {
  readonly message: Message;
  readonly preceding: readonly Message[];
  readonly end: EventDraft;
  /** The person who has control. */
  readonly details: { readonly by: string };
}

/** The message to keep if a person has control; null if the app has it. A message of the person in control is kept as an answer. */
export function keptMessage(run: LiveRun, state: SessionState): KeptMessage | null {
  if (!state.control) return null;
  const { by } = state.control;
  const { message, preceding, user } = run.request;
  const [end] = endDrafts(run, { stopReason: 'taken_over' }, state);
  const kept = { end: end!, details: { by } };
  if (user?.id !== by) return { message, preceding, ...kept };
  const said = (own: Message): Message =>
    own.role === 'user' ? { ...own, role: 'assistant', senderId: by, author: 'operator' } : own;
  return { message: said(message), preceding: preceding.map(said), ...kept };
}
