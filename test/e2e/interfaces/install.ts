import { join } from 'node:path';
// @ts-expect-error It has no types.
import { install } from '../../../scripts/installed.mjs';
import { ROOT } from '../../support/program.js';

/** Below the root, so that what these packages want to find beside them (React) is the project's own. */
export const INTERFACES = join(ROOT, '.cache/interfaces');

/** Installs interfaces that are not among the development dependencies, in the versions of their own lock file. */
export const installInterfaces = (): void => install('.cache/interfaces', 'test/e2e/interfaces');
