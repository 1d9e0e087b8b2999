import { FEATURE_CALLS, featuresNamed } from './feature-calls.js';

/** How an operation is reached over HTTP. GET routes take their params from the query, POST routes from the JSON body. */
export interface OperationRoute {
  readonly http: 'GET' | 'POST';
  readonly path: string;
  /** Whether the specification lacks the route, so that `extraRoutes` can move or drop it. */
  readonly extra: boolean;
}

/** The place of the routes that the specification does not list: below a prefix, or nowhere. */
export type ExtraRoutes = string | false;

/**
 * The operations that the SDK calls, each with its properties:
 *
 * - `GET`: called by a URL alone, changes nothing. It may be repeated, counts as a read, and is `extra`.
 * - `extra`: the specification does not list its route.
 * - `read`: counts as a read, although it is no `GET`.
 * - `run`: begins a run. It may be repeated, since it carries an idempotency key.
 * - `same`: names its object, so that a second call changes nothing more.
 * - `once`: may be repeated only if it was surely not made, lest a repeated move undo a newer one.
 *
 * Words and not objects, since clients have this table in their bundle.
 */
const WORDS = {
  send: 'run',
  invoke: '',
  subscribe: '',
  abort: 'same',
  close: '',
  'tool-response': '',
  channel: '',
  ticket: 'extra read',
  regenerate: 'extra run',
  move: 'extra once',
  share: 'extra once',
  update: 'extra',
  delete: 'extra',
  import: 'extra',
  history: 'GET',
  sessions: 'GET',
  apps: 'GET',
  status: 'GET',
  grants: 'GET',
  methods: 'GET',
  run: 'GET',
  ...FEATURE_CALLS,
} as const;

/** Operations that only some entries of the client call. All are `extra` and `same`, so that clients without these entries need not know them. */
const named = () =>
  [
    ...featuresNamed(),
    ...(['append', 'fork', 'unshare', 'steer', 'take-over', 'hand-back'] as const),
  ] as const;
const SAME = 'extra same';

type CallWords = typeof WORDS & { readonly [Name in ReturnType<typeof named>[number]]: typeof SAME };

/** An operation that the SDK calls. */
export type CallName = keyof CallWords;

/** A property of an operation. */
export type CallWord = 'GET' | 'extra' | 'read' | 'run' | 'same' | 'once';

/** The operations with a property. */
export type CallOf<Word extends CallWord> = {
  [Name in CallName]: CallWords[Name] extends `${string}${Word}` | `${string}${Word} ${string}`
    ? Name
    : never;
}[CallName];

/** Whether an operation has a property. */
export function isCall<Word extends CallWord>(name: string, word: Word): name is CallOf<Word> {
  return ((WORDS as Readonly<Record<string, string>>)[name] ?? SAME).split(' ').includes(word);
}

/** How the SDK reaches an operation over HTTP. */
export function routeOf(name: CallName): OperationRoute {
  const isGet = isCall(name, 'GET');
  return { http: isGet ? 'GET' : 'POST', path: `/${name}`, extra: isGet || isCall(name, 'extra') };
}

const routes = () =>
  Object.fromEntries([...Object.keys(WORDS), ...named()].map((name) => [name, routeOf(name as CallName)]));

/** The routes of the operations that the SDK calls: its part of the operations table. The SDK itself asks `routeOf`. */
export const CALLS = /* @__PURE__ */ routes() as {
  readonly [Name in CallName]: {
    readonly http: Name extends CallOf<'GET'> ? 'GET' : 'POST';
    readonly path: `/${Name}`;
    readonly extra: boolean;
  };
};

/** The route that streams the kept content of a session, one line an item. */
export const EXPORT_PATH = '/export';

/** The route that opens a stream of events. */
export const EVENTS_PATH = '/events';

/** The path of WebSockets, below the mount. */
export const WEBSOCKET_PATH = '/ws';
