import type { Feature } from '../operations/feature.js';
import { schedulesFeature } from './schedules/feature.js';

/** The features of the gateway. None knows of another: what crosses two of them is a word that the kernel reads. */
export const FEATURES: readonly Feature[] = [schedulesFeature];

/** One part of all features, as one table. */
export const joined = <Part extends 'work' | 'due' | 'exports' | 'causes'>(
  part: Part,
): NonNullable<Feature[Part]> => Object.assign({}, ...FEATURES.map((feature) => feature[part]));
