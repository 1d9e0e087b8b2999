/** How an operation is reached over HTTP. GET routes take their params from the query, POST routes from the JSON body. */
export interface OperationRoute {
  readonly http: 'GET' | 'POST';
  readonly path: string;
}

/**
 * Every operation once. The HTTP router, the frame dispatcher, the client and the documents read this table; the schemas of
 * params and results are in `schemas/operations.ts`, keyed by the same names.
 */
export const OPERATIONS = {
  send: { http: 'POST', path: '/send' },
  invoke: { http: 'POST', path: '/invoke' },
  subscribe: { http: 'POST', path: '/subscribe' },
  abort: { http: 'POST', path: '/abort' },
  close: { http: 'POST', path: '/close' },
  'tool-response': { http: 'POST', path: '/tool-response' },
  channel: { http: 'POST', path: '/channel' },
  ticket: { http: 'POST', path: '/ticket' },
  history: { http: 'GET', path: '/history' },
  sessions: { http: 'GET', path: '/sessions' },
  apps: { http: 'GET', path: '/apps' },
  status: { http: 'GET', path: '/status' },
  methods: { http: 'GET', path: '/methods' },
  openapi: { http: 'GET', path: '/openapi.json' },
  asyncapi: { http: 'GET', path: '/asyncapi.json' },
} as const satisfies Record<string, OperationRoute>;

/** The name of an operation, the same on every transport. */
export type OperationName = keyof typeof OPERATIONS;

/** The operations whose routes can be moved or dropped with `extraRoutes`. Beside the table, which is in every client's bundle. */
export const EXTRA_OPERATIONS: readonly OperationName[] = [
  'ticket',
  'history',
  'sessions',
  'apps',
  'status',
  'methods',
  'openapi',
  'asyncapi',
];

/** The route that opens a stream of events. */
export const EVENTS_PATH = '/events';

/** The path of WebSockets, below the mount. */
export const WEBSOCKET_PATH = '/ws';

/** Routes without authentication. */
export const HEALTH_PATHS = { live: '/healthz', ready: '/readyz' } as const;

/** Whether a name is that of an operation. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
