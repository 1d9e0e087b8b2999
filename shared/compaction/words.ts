import type { FeatureWords } from '../words.js';
import type { CompactionEvents, CompactionLimits } from './contract.js';

export const COMPACTION: FeatureWords<Readonly<Record<never, never>>, CompactionEvents, CompactionLimits> = {
  operations: {},
  events: { compacted: { summary: 'The messages up to one are summarized for the app', foreign: true } },
  limits: { summaryLength: { kind: 'count', default: 50_000 } },
};
