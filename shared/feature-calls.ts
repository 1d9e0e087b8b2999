import { BUDGET_CALLS } from './budgets/contract.js';
import { INBOX_CALLS } from './inbox/contract.js';
import { NOTICE_CALLS, NOTICE_NAMED } from './notices/contract.js';
import { PRESENCE_NAMED } from './presence/contract.js';
import { REACTION_NAMED } from './reactions/contract.js';
import { RETRACTION_NAMED } from './retraction/contract.js';
import { SCHEDULE_CALLS, SCHEDULE_NAMED } from './schedules/contract.js';
import { SEARCH_CALLS } from './search/contract.js';

/** The features' part of the table in `calls.ts`. It reads contracts alone, since clients have it in their bundle. */
export const FEATURE_CALLS = {
  ...BUDGET_CALLS,
  ...INBOX_CALLS,
  ...NOTICE_CALLS,
  ...SCHEDULE_CALLS,
  ...SEARCH_CALLS,
} as const;

/** The features' operations that only entries of their own call. A function, which a bundle without use for it leaves out. */
export const featuresNamed = () =>
  [...NOTICE_NAMED, ...PRESENCE_NAMED, ...REACTION_NAMED, ...RETRACTION_NAMED, ...SCHEDULE_NAMED] as const;
