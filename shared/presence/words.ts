import type { FeatureWords } from '../words.js';
import type { PresenceLimits, PresenceOperations, PresenceTransients } from './contract.js';

export const PRESENCE: FeatureWords<PresenceOperations, PresenceTransients, PresenceLimits> = {
  operations: {
    presence: {
      ...{ least: 'viewer', rate: 'reads', isNew: true, ofConnection: true, tag: 'conversation' },
      sample: { sessionId: 'main', connectionId: 'c' },
      summary: 'Be present in a session, and see who is',
      description:
        'For a connection that follows the session: from then on it is told who is there (`presence`), until it ends. With a `state` the caller is there too.',
      errors: ['APP_NOT_FOUND', 'SESSION_NOT_FOUND', 'CONNECTION_NOT_FOUND', 'SHUTTING_DOWN'],
    },
  },
  events: { presence: { summary: 'The people in the session, or a change of them' } },
  limits: {
    presenceMembers: { kind: 'count', default: 100 },
    presenceBytes: { kind: 'bytes', default: 1024 },
  },
};
