/** How an operation is reached over HTTP. GET routes take their params from the query, POST routes from the JSON body. */
export interface OperationRoute {
  readonly http: 'GET' | 'POST';
  readonly path: string;
}

const POSTED = [
  'send',
  'invoke',
  'subscribe',
  'abort',
  'close',
  'tool-response',
  'channel',
  'ticket',
  'regenerate',
  'move',
  'fork',
  'update',
  'delete',
  'import',
] as const;
const READ = ['history', 'sessions', 'apps', 'status', 'methods', 'run'] as const;

/** An operation that the SDK calls. */
export type CallName = (typeof POSTED | typeof READ)[number];

/** How the SDK reaches an operation over HTTP. */
export function routeOf(name: CallName): OperationRoute {
  return { http: (READ as readonly string[]).includes(name) ? 'GET' : 'POST', path: `/${name}` };
}

const routes = () => Object.fromEntries([...POSTED, ...READ].map((name) => [name, routeOf(name)]));

/** The operations that the SDK calls: its part of the operations table. The SDK itself asks `routeOf`, and its bundle has no table. */
export const CALLS = /* @__PURE__ */ routes() as {
  readonly [Name in (typeof POSTED)[number]]: { readonly http: 'POST'; readonly path: `/${Name}` };
} & {
  readonly [Name in (typeof READ)[number]]: { readonly http: 'GET'; readonly path: `/${Name}` };
};

/** Where the routes live that the specification does not list: below a prefix, or nowhere. */
export type ExtraRoutes = string | false;

/**
 * Whether the specification does not list a route, so that it can be moved or dropped with `extraRoutes`: what is asked with GET,
 * and what came after `channel`. A rule and no column of the table, since clients have a use for it as well.
 */
export function isExtraRoute({ http, path }: OperationRoute): boolean {
  return http === 'GET' || (POSTED as readonly string[]).indexOf(path.slice(1)) > POSTED.indexOf('channel');
}

/** The route that streams what is kept of a session, a line an item. */
export const EXPORT_PATH = '/export';

/** The route that opens a stream of events. */
export const EVENTS_PATH = '/events';

/** The route that files are uploaded to; each is read below it, by its id. */
export const FILES_PATH = '/files';

/** The path of WebSockets, below the mount. */
export const WEBSOCKET_PATH = '/ws';
