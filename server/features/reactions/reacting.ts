import { fieldError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import type { ReactionGiven } from '../../../shared/reactions/contract.js';
import type { HeldSession } from '../../held/held-session.js';
import { LimitError } from '../../limit-error.js';

/** A reaction on its way into the log. */
export interface ReactRequest {
  readonly reaction: ReactionGiven;
  /** `limits.reactionsPerMessage`. */
  readonly most: number;
}

/**
 * Logs a person's reaction to a message, unless the message has it already.
 *
 * @throws GatewayError `MESSAGE_NOT_FOUND` for a message that is not on the current path, `QUOTA_EXCEEDED` if too many people have reacted
 * to it
 */
export async function react({ log }: HeldSession, { reaction, most }: ReactRequest): Promise<void> {
  const { messageId, by, value, comment } = reaction;
  const drafts = ({ messages }: SessionState) => {
    const message = messages.findLast(({ id }) => id === messageId);
    if (!message)
      throw fieldError(
        'messageId',
        'must be one of the last 1,000 messages that are shown',
        'MESSAGE_NOT_FOUND',
      );
    const { reactions = [] } = message;
    const before = reactions.find((other) => other.by === by);
    if ((before?.value ?? null) === value && before?.comment === comment) return [];
    if (!before && value !== null && reactions.length >= most) {
      const text = `A message has at most ${most} reactions (limits.reactionsPerMessage)`;
      throw new LimitError('limits.reactionsPerMessage', { code: 'QUOTA_EXCEEDED', message: text });
    }
    return [{ type: 'reaction', ts: Date.now(), ...reaction } as const];
  };
  await log.commit(drafts, { refusable: true });
}
