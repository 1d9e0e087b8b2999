/** How an operation is reached over HTTP. GET routes take their params from the query, POST routes from the JSON body. */
export interface OperationRoute {
  readonly http: 'GET' | 'POST';
  readonly path: string;
  /** Whether the specification lists the route; the others can be moved or dropped with `extraRoutes`. */
  readonly extra?: true;
  /** Whether its answer may be a stream of events. */
  readonly streams?: true;
}

/**
 * Every operation once. The HTTP router, the frame dispatcher, the client and the documents read this table; the schemas of
 * params and results are in `schemas/operations.ts`, keyed by the same names.
 */
export const OPERATIONS = {
  send: { http: 'POST', path: '/send', streams: true },
  invoke: { http: 'POST', path: '/invoke', streams: true },
  subscribe: { http: 'POST', path: '/subscribe' },
  abort: { http: 'POST', path: '/abort' },
  close: { http: 'POST', path: '/close' },
  'tool-response': { http: 'POST', path: '/tool-response' },
  channel: { http: 'POST', path: '/channel' },
  ticket: { http: 'POST', path: '/ticket', extra: true },
  history: { http: 'GET', path: '/history', extra: true },
  sessions: { http: 'GET', path: '/sessions', extra: true },
  apps: { http: 'GET', path: '/apps', extra: true },
  status: { http: 'GET', path: '/status', extra: true },
  methods: { http: 'GET', path: '/methods', extra: true },
  openapi: { http: 'GET', path: '/openapi.json', extra: true },
  asyncapi: { http: 'GET', path: '/asyncapi.json', extra: true },
} as const satisfies Record<string, OperationRoute>;

/** The name of an operation, the same on every transport. */
export type OperationName = keyof typeof OPERATIONS;

/** The route that opens a stream of events. */
export const EVENTS_PATH = '/events';

/** The path of WebSockets, below the mount. */
export const WEBSOCKET_PATH = '/ws';

/** Routes without authentication. */
export const HEALTH_PATHS = { live: '/healthz', ready: '/readyz' } as const;

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
