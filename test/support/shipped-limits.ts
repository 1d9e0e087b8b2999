import { DEFAULT_LIMITS } from '../../server/config/limits.js';
import { alwaysGather } from './pretend-load.js';

/** What gateways are limited to by default. */
export const SHIPPED_LIMITS = { ...DEFAULT_LIMITS };

// A machine that runs tests has others to serve: where it makes a loop late, that is no overload of the gateway that is tested. Gateways
// in processes of their own import this too.
(DEFAULT_LIMITS as { loopDelayMs: number }).loopDelayMs = Number.POSITIVE_INFINITY;
// Nor does it join what an app has yielded piece by piece, which many tests count; `TEST_GATHER=20` has pieces wait so many milliseconds.
const { TEST_GATHER } = process.env;
(DEFAULT_LIMITS as { gatherMs: number }).gatherMs = Number(TEST_GATHER ?? 0);
if (TEST_GATHER !== undefined) alwaysGather(Number(TEST_GATHER));
