import { budgetEventShapes, budgetOperationSchemas } from '../budgets/schema.js';
import { compactionEventShapes } from '../compaction/schema.js';
import { deployEventShapes } from '../deploys/schema.js';
import { inboxOperationSchemas, inboxTransientShapes } from '../inbox/schema.js';
import { noticeOperationSchemas } from '../notices/schema.js';
import { presenceEventShapes, presenceOperationSchemas } from '../presence/schema.js';
import { reactionEventShapes, reactionOperationSchemas } from '../reactions/schema.js';
import { retractionOperationSchemas } from '../retraction/schema.js';
import { scheduleEventShapes, scheduleExportSchemas, scheduleOperationSchemas } from '../schedules/schema.js';
import { searchOperationSchemas } from '../search/schema.js';
import { variantEventShapes } from '../variants/schema.js';

/** Schemas of the params and results of all features' operations. */
export const featureOperationSchemas = {
  ...budgetOperationSchemas,
  ...inboxOperationSchemas,
  ...noticeOperationSchemas,
  ...presenceOperationSchemas,
  ...reactionOperationSchemas,
  ...retractionOperationSchemas,
  ...scheduleOperationSchemas,
  ...searchOperationSchemas,
};

/** Fields of the events of all features that a session logs. */
export const featureLoggedShapes = {
  ...budgetEventShapes,
  ...compactionEventShapes,
  ...deployEventShapes,
  ...reactionEventShapes,
  ...scheduleEventShapes,
  ...variantEventShapes,
};

/** Fields of the events of all features that no log holds. */
export const featureTransientShapes = { ...inboxTransientShapes, ...presenceEventShapes };

/** Schemas of the items of an export that features add. */
export const featureExportSchemas = { ...scheduleExportSchemas };
