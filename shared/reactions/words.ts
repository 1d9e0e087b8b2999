import type { FeatureWords } from '../words.js';
import type { ReactionEvents, ReactionLimits, ReactionOperations } from './contract.js';

export const REACTIONS: FeatureWords<ReactionOperations, ReactionEvents, ReactionLimits> = {
  operations: {
    react: {
      ...{ least: 'commenter', rate: 'sends', fills: true, tag: 'conversation' },
      sample: { sessionId: 'main', messageId: 'm', value: 'up' },
      summary: 'Say what one thinks of a message',
      description:
        'One reaction a person and message: another one takes its place, and `null` takes it back. Messages have them in `reactions`.',
      errors: [
        ...(['APP_NOT_FOUND', 'SESSION_NOT_FOUND', 'MESSAGE_NOT_FOUND'] as const),
        ...(['SESSION_CLOSED', 'QUOTA_EXCEEDED', 'SHUTTING_DOWN'] as const),
      ],
    },
  },
  events: { reaction: { summary: 'A person says what they think of a message, or takes it back' } },
  limits: { reactionsPerMessage: { kind: 'count', default: 200 } },
};
