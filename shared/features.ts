import type { BudgetOperations, BudgetStats } from './budgets/contract.js';
import type { BudgetConfig, BudgetOperator } from './budgets/options.js';
import { BUDGETS } from './budgets/words.js';
import type { CompactionHandle, CompactionHostCalls, CompactionLimits } from './compaction/contract.js';
import { COMPACTION } from './compaction/words.js';
import type { DeployLimits, DeployStats } from './deploys/contract.js';
import { DEPLOYS } from './deploys/words.js';
import type { FeatureCause, FeatureEvents, FeatureTransients } from './feature-events.js';
import type { FileLimits } from './files/contract.js';
import { FILES } from './files/words.js';
import type { InboxOperations } from './inbox/contract.js';
import { INBOX_WORDS } from './inbox/words.js';
import type {
  NoticeHandle,
  NoticeHostCalls,
  NoticeLimits,
  NoticeOperations,
  NoticeOperator,
  NoticeStats,
} from './notices/contract.js';
import type { NoticeConfig } from './notices/options.js';
import { NOTICES } from './notices/words.js';
import type { PresenceLimits, PresenceOperations } from './presence/contract.js';
import { PRESENCE } from './presence/words.js';
import type { ReactionLimits, ReactionOperations } from './reactions/contract.js';
import { REACTIONS } from './reactions/words.js';
import type { RetractionHandle, RetractionHostCalls, RetractionOperations } from './retraction/contract.js';
import { RETRACTION } from './retraction/words.js';
import type {
  ScheduleExports,
  ScheduleHandle,
  ScheduleLimits,
  ScheduleOperations,
  ScheduleTrigger,
} from './schedules/contract.js';
import { SCHEDULES } from './schedules/words.js';
import type { SearchHandle, SearchOperations } from './search/contract.js';
import { SEARCH } from './search/words.js';
import type { VariantLimits } from './variants/contract.js';
import { VARIANTS } from './variants/words.js';
import type { EventWords, FollowWords, LimitWords, MetricWords, OperationWords } from './words.js';

// The other lists of features are `feature-calls.ts`, for clients, `feature-events.ts`, and `schemas/features.ts`.

/** The operations of all features. */
export interface FeatureOperations
  extends BudgetOperations,
    InboxOperations,
    NoticeOperations,
    PresenceOperations,
    ReactionOperations,
    RetractionOperations,
    ScheduleOperations,
    SearchOperations {}
/** The limits of all features. */
export interface FeatureLimits
  extends CompactionLimits,
    DeployLimits,
    FileLimits,
    NoticeLimits,
    PresenceLimits,
    ReactionLimits,
    ScheduleLimits,
    VariantLimits {}
/** The items of an export that features add, by kind. */
export interface FeatureExports extends ScheduleExports {}
/** The methods of a session that features add, for host code. */
export interface FeatureHandle
  extends CompactionHandle,
    NoticeHandle,
    RetractionHandle,
    ScheduleHandle,
    SearchHandle {}
/** The causes of runs whose messages nobody sent. */
export type FeatureTrigger = ScheduleTrigger;

/** The fields of a gateway's configuration that features read. */
export interface FeatureConfig extends BudgetConfig, NoticeConfig {}
/** The numbers of all features in `gateway.stats()`. */
export interface FeatureStats extends BudgetStats, DeployStats, NoticeStats {}
/** The operators' access to all features. */
export interface FeatureOperator extends BudgetOperator, NoticeOperator {}
/** The calls on a session that host code has and no client, of all features. */
export interface FeatureHostCalls extends CompactionHostCalls, NoticeHostCalls, RetractionHostCalls {}

type Table<Names, Row> = { readonly [Name in keyof Names]: Row };

export const FEATURE_OPERATIONS: Table<FeatureOperations, OperationWords> = {
  ...BUDGETS.operations,
  ...INBOX_WORDS.operations,
  ...NOTICES.operations,
  ...PRESENCE.operations,
  ...REACTIONS.operations,
  ...RETRACTION.operations,
  ...SCHEDULES.operations,
  ...SEARCH.operations,
};
export const FEATURE_EVENTS: Table<FeatureEvents & FeatureTransients, EventWords> = {
  ...BUDGETS.events,
  ...COMPACTION.events,
  ...DEPLOYS.events,
  ...INBOX_WORDS.events,
  ...PRESENCE.events,
  ...REACTIONS.events,
  ...SCHEDULES.events,
  ...VARIANTS.events,
};
export const FEATURE_LIMITS: Table<FeatureLimits, LimitWords> = {
  ...COMPACTION.limits,
  ...DEPLOYS.limits,
  ...FILES.limits,
  ...NOTICES.limits,
  ...PRESENCE.limits,
  ...REACTIONS.limits,
  ...SCHEDULES.limits,
  ...VARIANTS.limits,
};

export const FEATURE_METRICS: readonly MetricWords<FeatureStats>[] = [
  BUDGETS.metrics ?? {},
  DEPLOYS.metrics ?? {},
  NOTICES.metrics ?? {},
];

/** The titles of pushes, by the event of a feature that causes one. */
export const CAUSE_TITLES: Readonly<Record<FeatureCause, string>> = {
  ...BUDGETS.causes,
  ...DEPLOYS.causes,
  ...RETRACTION.causes,
  ...SCHEDULES.causes,
};

export const FEATURE_FOLLOWS: Readonly<Record<string, FollowWords>> = { ...INBOX_WORDS.follows };

/** The routes of all features beside their operations. */
export const FEATURE_ROUTES = { ...FILES.routes };

/** A route of a feature beside its operations. */
export type FeatureRoute = keyof typeof FEATURE_ROUTES;

/** A table that says one thing of each row. */
export function column<Name extends string, Row, Value>(
  table: { readonly [N in Name]: Row },
  of: (row: Row) => Value,
): { readonly [N in Name]: Value } {
  return Object.fromEntries(Object.entries<Row>(table).map(([name, row]) => [name, of(row)])) as {
    readonly [N in Name]: Value;
  };
}
