import { BUDGET_CAUSES, type BudgetEvents } from './budgets/contract.js';
import type { CompactionEvents } from './compaction/contract.js';
import { DEPLOY_CAUSES, type DeployEvents } from './deploys/contract.js';
import type { InboxTransients } from './inbox/contract.js';
import type { PresenceTransients } from './presence/contract.js';
import type { ReactionEvents } from './reactions/contract.js';
import { RETRACTION_CAUSES, type RetractionCauseFields } from './retraction/contract.js';
import { SCHEDULE_CAUSES, type ScheduleCauseFields, type ScheduleEvents } from './schedules/contract.js';
import type { VariantEvents } from './variants/contract.js';

/** The logged events of all features. */
export interface FeatureEvents
  extends BudgetEvents,
    CompactionEvents,
    DeployEvents,
    ReactionEvents,
    ScheduleEvents,
    VariantEvents {}
/** The events of all features that a connection carries and no log holds. */
export interface FeatureTransients extends InboxTransients, PresenceTransients {}

/** The events of all features that cause notices, as the kinds of these. */
export const FEATURE_CAUSES = [
  ...BUDGET_CAUSES,
  ...DEPLOY_CAUSES,
  ...RETRACTION_CAUSES,
  ...SCHEDULE_CAUSES,
] as const;
/** An event of a feature that causes a notice. */
export type FeatureCause = (typeof FEATURE_CAUSES)[number];
/** The fields that features add to notices. */
export interface CauseFields extends RetractionCauseFields, ScheduleCauseFields {}
