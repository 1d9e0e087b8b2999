import type { CauseWords, FeatureWords } from '../words.js';
import type { RETRACTION_CAUSES, RetractionOperations } from './contract.js';

export const RETRACTION: FeatureWords<RetractionOperations, object, object> &
  CauseWords<(typeof RETRACTION_CAUSES)[number]> = {
  operations: {
    retract: {
      ...{ least: 'operator', audit: ['messageId'], rate: 'sends', tag: 'conversation' },
      sample: { sessionId: 'main', messageId: 'm' },
      summary: 'Take a message back',
      description:
        'Any message of the session. History, exports, forks and the store have it without its content from then on, with `retracted`. A run that writes it, or answers it, ends as `moderated`.',
      errors: [
        ...(['APP_NOT_FOUND', 'SESSION_NOT_FOUND', 'MESSAGE_NOT_FOUND'] as const),
        ...(['SESSION_CLOSED', 'SHUTTING_DOWN'] as const),
      ],
    },
  },
  events: {},
  limits: {},
  causes: { message_retracted: 'A message was taken back' },
};
