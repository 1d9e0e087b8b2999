import type { Message } from '../../shared/messages.js';
import type { Turn } from '../apps/application.js';

/**
 * The conversation for a model, preceded by the caller's instructions for this answer only (`instructions` of the Responses API), which are
 * in no history.
 */
export function conversationOf(turn: Turn): readonly Message[] {
  const { instructions } = turn.parameters;
  const conversation = [...turn.history, turn.message];
  if (typeof instructions !== 'string' || instructions === '') return conversation;
  const content = [{ type: 'text' as const, text: instructions }];
  return [
    { id: 'instructions', role: 'system', content, createdAt: turn.message.createdAt },
    ...conversation,
  ];
}
