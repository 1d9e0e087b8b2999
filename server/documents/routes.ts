import type { ErrorCode } from '../../shared/errors.js';
import { FEATURE_ROUTES, type FeatureRoute } from '../../shared/features.js';
import { OPERATION_WORDS } from '../../shared/operation-words.js';
import type { OperationName } from '../../shared/operations.js';
import type { RouteWords } from '../../shared/words.js';

/** A described request: an operation, or one of the other routes. */
export type Described = OperationName | FeatureRoute | 'events' | 'live' | 'ready';

const SESSION = ['APP_NOT_FOUND', 'SESSION_NOT_FOUND'] as const satisfies readonly ErrorCode[];

/** The routes, each with all that the documents say of it. */
export const ROUTES: Readonly<Record<Described, RouteWords>> = {
  ...OPERATION_WORDS,
  events: {
    tag: 'conversation',
    summary: 'Follow sessions',
    description:
      'A stream of events that ends by itself after some minutes, with a `retry:` line; a client then asks again with the last `id` it has seen. A stream of one session carries its cursor as `id`; any other stream carries a vector of cursors as the `id` of heartbeats.',
    errors: [...SESSION],
  },
  ...FEATURE_ROUTES,
  live: { tag: 'service', summary: 'Tell that the process answers' },
  ready: {
    tag: 'service',
    summary: 'Tell whether new work is taken',
    errors: ['SHUTTING_DOWN', 'OVERLOADED'],
  },
};
