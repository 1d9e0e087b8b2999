import type { Core } from './run.js';

/** What each client is made of: for entries of their own, which pages that have no use for them do not load. */
export const coreOf = new WeakMap<object, Core>();
