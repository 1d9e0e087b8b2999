import type { FeatureWords } from '../words.js';
import type { InboxOperations, InboxTransients } from './contract.js';

export const INBOX_WORDS: FeatureWords<InboxOperations, InboxTransients, object> = {
  operations: {
    read: {
      least: 'viewer',
      rate: 'reads',
      sample: { sessionId: 'main' },
      tag: 'conversation',
      summary: 'Note that it was read',
      description:
        'Up to a place, or all of it. A place never goes back: one that another device of the same person has gone beyond stays where it is.',
      errors: ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'],
    },
    inbox: {
      least: 'viewer',
      rate: 'reads',
      // A first page looks at all sessions.
      cost: ({ cursor, limit }) => (cursor === undefined ? 5 : 1) + Math.floor(Number(limit ?? 0) / 200 || 0),
      sample: {},
      tag: 'conversation',
      summary: 'The inbox',
      description:
        'Sessions of the caller with the number of unread messages and open questions in each, the one that was used last first, and sums over the 1,000 that were used last. A stream of changes goes on from `place`.',
    },
  },
  events: { inbox: { summary: 'Sessions of the inbox have changed: each as a whole' } },
  limits: {},
  follows: { '~inbox': { query: 'inbox', summary: 'Whether to follow the inbox of the caller' } },
};
