import type { Call } from './call.js';

/** How each client asks for operations: for entries of their own, which pages that have no use for them do not load. */
export const callsOf = new WeakMap<object, Call>();
