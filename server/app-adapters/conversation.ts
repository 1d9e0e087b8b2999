import type { Message } from '../../shared/messages.js';
import type { Turn } from '../apps/application.js';

/**
 * What a model is told: the conversation, and before it what the caller asks for in this answer alone (`instructions` of the Responses
 * API), which is in no history.
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
