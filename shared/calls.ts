/** How an operation is reached over HTTP. GET routes take their params from the query, POST routes from the JSON body. */
export interface OperationRoute {
  readonly http: 'GET' | 'POST';
  readonly path: string;
}

/** The operations that the SDK calls: its part of the operations table, without what its bundle has no use for. */
export const CALLS = {
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
} as const satisfies Record<string, OperationRoute>;

/**
 * Whether the specification does not list a route, so that it can be moved or dropped with `extraRoutes`: what is asked with GET,
 * and `/ticket`. A rule and no column of the table, which is in every client's bundle.
 */
export function isExtraRoute({ http, path }: OperationRoute): boolean {
  return http === 'GET' || path === '/ticket';
}

/** An operation that the SDK calls. */
export type CallName = keyof typeof CALLS;

/** The route that opens a stream of events. */
export const EVENTS_PATH = '/events';

/** The path of WebSockets, below the mount. */
export const WEBSOCKET_PATH = '/ws';
