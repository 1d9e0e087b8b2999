import type { ScheduleEvents, ScheduleLimits, ScheduleOperations } from './schedules/contract.js';
import { SCHEDULES } from './schedules/words.js';
import type { EventWords, OperationWords } from './words.js';

/** The operations of all features. */
export interface FeatureOperations extends ScheduleOperations {}
/** The logged events of all features. */
export interface FeatureEvents extends ScheduleEvents {}
/** The limits of all features. */
export interface FeatureLimits extends ScheduleLimits {}

export const FEATURE_OPERATIONS: { readonly [Name in keyof FeatureOperations]: OperationWords } = {
  ...SCHEDULES.operations,
};
export const FEATURE_EVENTS: { readonly [Name in keyof FeatureEvents]: EventWords } = { ...SCHEDULES.events };
export const FEATURE_LIMITS: FeatureLimits = { ...SCHEDULES.limits };

/** One column of a table. */
export function column<Name extends string, Row, Key extends keyof Row>(
  table: { readonly [N in Name]: Row },
  key: Key,
): { readonly [N in Name]: Row[Key] } {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, (row as Row)[key]])) as {
    readonly [N in Name]: Row[Key];
  };
}
