/** How an operation is reached over HTTP. GET routes take their params from the query, POST routes from the JSON body. */
export interface OperationRoute {
  readonly http: 'GET' | 'POST';
  readonly path: string;
  /** Whether the specification does not list it, so that it can be moved or dropped with `extraRoutes`. */
  readonly extra: boolean;
}

/** Where the routes live that the specification does not list: below a prefix, or nowhere. */
export type ExtraRoutes = string | false;

/**
 * The operations that the SDK calls, each with what is so of it:
 *
 * - `GET`: it is asked for by a URL alone and changes nothing. So it may be repeated, it counts as a read, and it is extra.
 * - `extra`: the specification does not list its route.
 * - `read`: it counts as a read all the same.
 * - `run`: it begins a run. It may be repeated, since it carries an idempotency key.
 * - `same`: done twice it is done once, since it names what it is about.
 * - `once`: it may be repeated while it was surely not made. A move that was made is not made again, over what somebody has done since.
 *
 * Words, and no objects: clients have this table in their bundle.
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
  read: 'extra same read',
  delete: 'extra',
  import: 'extra',
  history: 'GET',
  sessions: 'GET',
  apps: 'GET',
  status: 'GET',
  schedules: 'GET',
  inbox: 'GET',
  notices: 'GET',
  grants: 'GET',
  methods: 'GET',
  run: 'GET',
} as const;

/** Operations of entries of their own, of which the same is so: clients that do not load these need not know them. */
const NAMED = [
  ...(['schedule', 'unschedule', 'fork', 'push', 'unshare'] as const),
  ...(['take-over', 'hand-back', 'react', 'presence'] as const),
] as const;
const SAME = 'extra same';

type Words = typeof WORDS & { readonly [Name in (typeof NAMED)[number]]: typeof SAME };

/** An operation that the SDK calls. */
export type CallName = keyof Words;

/** What may be so of an operation. */
export type CallWord = 'GET' | 'extra' | 'read' | 'run' | 'same' | 'once';

/** The operations of which a word is so. */
export type CallOf<Word extends CallWord> = {
  [Name in CallName]: Words[Name] extends `${string}${Word}` | `${string}${Word} ${string}` ? Name : never;
}[CallName];

/** Whether something is so of an operation. */
export function isCall<Word extends CallWord>(name: string, word: Word): name is CallOf<Word> {
  return ((WORDS as Readonly<Record<string, string>>)[name] ?? SAME).split(' ').includes(word);
}

/** How the SDK reaches an operation over HTTP. */
export function routeOf(name: CallName): OperationRoute {
  const isGet = isCall(name, 'GET');
  return { http: isGet ? 'GET' : 'POST', path: `/${name}`, extra: isGet || isCall(name, 'extra') };
}

const routes = () =>
  Object.fromEntries([...Object.keys(WORDS), ...NAMED].map((name) => [name, routeOf(name as CallName)]));

/** The routes of the operations that the SDK calls: its part of the operations table. The SDK itself asks `routeOf`. */
export const CALLS = /* @__PURE__ */ routes() as {
  readonly [Name in CallName]: {
    readonly http: Name extends CallOf<'GET'> ? 'GET' : 'POST';
    readonly path: `/${Name}`;
    readonly extra: boolean;
  };
};

/** The route that streams what is kept of a session, a line an item. */
export const EXPORT_PATH = '/export';

/** The route that opens a stream of events. */
export const EVENTS_PATH = '/events';

/** The route that files are uploaded to; each is read below it, by its id. */
export const FILES_PATH = '/files';

/** The path of WebSockets, below the mount. */
export const WEBSOCKET_PATH = '/ws';
