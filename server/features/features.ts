import type { FeatureConfigShape } from '../config/parse.js';
import type { Feature, FeatureGateway, FeatureParts } from '../operations/feature.js';
import { budgetsFeature } from './budgets/feature.js';
import { compactionFeature } from './compaction/feature.js';
import { deploysFeature } from './deploys/feature.js';
import { inboxFeature } from './inbox/feature.js';
import { noticesFeature } from './notices/feature.js';
import { presenceFeature } from './presence/feature.js';
import { reactionsFeature } from './reactions/feature.js';
import { retractionFeature } from './retraction/feature.js';
import { schedulesFeature } from './schedules/feature.js';
import { searchFeature } from './search/feature.js';

/** The features of the gateway. None knows of another: what crosses two of them is a word that the kernel reads. */
const FEATURES: readonly Feature[] = [
  budgetsFeature,
  compactionFeature,
  deploysFeature,
  inboxFeature,
  noticesFeature,
  presenceFeature,
  reactionsFeature,
  retractionFeature,
  schedulesFeature,
  searchFeature,
];

/** The features in one gateway. */
export const openFeatures = (gateway: FeatureGateway): readonly FeatureParts[] =>
  FEATURES.map((feature) => ({ ...feature, ...feature.open?.(gateway) }));

/** Schemas of the fields of a gateway's configuration that features read. */
export const FEATURE_CONFIG: FeatureConfigShape = Object.assign({}, ...FEATURES.map(({ config }) => config));
