import type { FeatureWords } from '../words.js';
import type { NoticeLimits, NoticeOperations, NoticeStats } from './contract.js';

export const NOTICES: FeatureWords<NoticeOperations, object, NoticeLimits, NoticeStats> = {
  operations: {
    notices: {
      least: 'viewer',
      rate: 'reads',
      sample: { sessionId: 'main' },
      tag: 'conversation',
      summary: 'The notices of a session',
      description:
        "The caller's own notices of a session, the newest first: what is owed, and what became of the last 20 for each target. Addresses and reasons are the host's.",
      errors: ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'],
    },
    push: {
      least: 'owner',
      rate: 'sends',
      sample: {},
      tag: 'conversation',
      summary: 'Have a browser told what happens while nobody looks',
      description:
        "Adds or removes a subscription of the caller's, as `PushSubscription.toJSON()` has it. Without either it only says by which key a browser subscribes.",
      errors: ['QUOTA_EXCEEDED', 'SHUTTING_DOWN'],
    },
  },
  events: {},
  limits: {
    pushSubscriptions: { kind: 'count', default: 16 },
    runWebhooks: { kind: 'count', default: 100 },
  },
  metrics: {
    now: [['notices_sending', 'Deliveries of notices on their way', ({ notices }) => notices.sending]],
    growing: [
      [
        'notices_total',
        'Outcomes of notices: told, failed (to be tried again), dead (given up), gone (nobody is there), seen (and so told to nobody)',
        ({ notices }) =>
          notices.outcomes.map(({ kind, target = '', outcome, count }) => [{ kind, target, outcome }, count]),
        ['kind', 'target', 'outcome'],
      ],
    ],
  },
};
