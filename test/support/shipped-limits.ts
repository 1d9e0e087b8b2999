import { DEFAULT_LIMITS } from '../../server/config/limits.js';

/** What gateways are limited to by default. */
export const SHIPPED_LIMITS = { ...DEFAULT_LIMITS };

// A machine that runs tests has others to serve: where it makes a loop late, that is no overload of the gateway that is tested. Gateways
// in processes of their own import this too.
(DEFAULT_LIMITS as { loopDelayMs: number }).loopDelayMs = Number.POSITIVE_INFINITY;
