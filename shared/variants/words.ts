import type { FeatureWords } from '../words.js';
import type { VariantEvents, VariantLimits } from './contract.js';

export const VARIANTS: FeatureWords<Readonly<Record<never, never>>, VariantEvents, VariantLimits> = {
  operations: {},
  events: { variant: { summary: 'The session has one of the variants that its app tries' } },
  limits: { variantsPerSession: { kind: 'count', default: 32 } },
};
