import { inEveryCopy } from '../shared/in-every-copy.js';
import type { Core } from './run.js';

/** The core of each client. Separate entries use it, so that pages without a use for them do not load them. */
export const coreOf = inEveryCopy('clients', () => new WeakMap<object, Core>());
