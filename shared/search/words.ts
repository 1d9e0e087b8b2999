import type { FeatureWords } from '../words.js';
import type { SearchOperations } from './contract.js';

export const SEARCH: FeatureWords<SearchOperations, object, object> = {
  operations: {
    search: {
      ...{ least: 'viewer', rate: 'reads', tag: 'reading' },
      // A page ranks up to a hundred messages, and each that it shows takes a look at its session.
      cost: ({ limit }) => 10 + Math.floor(Number(limit ?? 0) / 10 || 0),
      sample: { sessionId: 'main', query: 'what' },
      summary: 'Search in what was said',
      description:
        'Finds the messages of people and apps that have all words of the query, in every session that the caller may see, its own and those that others share with it. The best come first: words weigh more where a message is short, and what was said lately weighs more. Without an index in the store the conversations are read, so many at a time: go on with the cursor.',
      errors: ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'],
    },
  },
  events: {},
  limits: {},
};
