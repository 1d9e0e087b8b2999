import type { ErrorCode } from './errors.js';
import type { GrantRole } from './grants.js';

/** The groups of routes. */
export const TAGS = {
  conversation: 'Messages, runs and their events',
  methods: "The host's own methods",
  reading: 'Sessions, runs, apps and files',
  service: 'Health, tickets and documents',
} as const;

/** The description of a route, for documents. */
export interface RouteWords {
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** Error codes beside those that every route of its kind has. A host's own code may add others. */
  readonly errors?: readonly ErrorCode[];
}

/** Words of a route beside the operations, which the specification does not list. */
export interface OwnRouteWords extends RouteWords {
  readonly http: 'GET' | 'POST';
  /** The path, below the prefix of the extra routes. `{name}` at its end stands for any name. */
  readonly path: string;
}

/** The rates of a caller that operations take from. */
export type RateName = 'sends' | 'invokes' | 'reads';

/** Words of an event. */
export interface EventWords {
  readonly summary: string;
  /** Whether it has values from an app or a caller, which may change them afterwards. */
  readonly foreign?: true;
}

/** The kinds of numbers that limits have. `server/config/limit-kinds.ts` says which numbers each takes. */
export type LimitKindName = 'count' | 'bytes' | 'rate' | 'age' | 'ms' | 'msOrNone' | 'interval';

/** Words of a limit. */
export interface LimitWords {
  readonly kind: LimitKindName;
  readonly default: number;
}

/** Words of a stream that a connection may follow beside sessions. */
export interface FollowWords {
  /** The field of a query that asks for it. */
  readonly query: string;
  readonly summary: string;
}

/** A value of a metric, by its labels. */
export type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** A metric that is read from `gateway.stats()`. */
export type MetricRow<Stats> = readonly [
  name: string,
  help: string,
  read: (stats: Stats) => number | readonly MetricSample[],
  labels?: readonly string[],
];

/** Metrics: the present values, and those that only grow. */
export interface MetricWords<Stats> {
  readonly now?: readonly MetricRow<Stats>[];
  readonly growing?: readonly MetricRow<Stats>[];
}

/** The words of a feature. They import nothing but types, so that every table can read it. */
export interface FeatureWords<Operations, Events, Limits, Stats = object> {
  readonly operations: { readonly [Name in keyof Operations]: OperationWords };
  readonly events: { readonly [Name in keyof Events]: EventWords };
  readonly limits: { readonly [Name in keyof Limits]: LimitWords };
  /** Streams that a connection may follow beside sessions, by names that no session has. */
  readonly follows?: Readonly<Record<string, FollowWords>>;
  readonly metrics?: MetricWords<Stats>;
}

/** The words of a feature whose events cause notices for people who are away. */
export interface CauseWords<Kinds extends string> {
  /** The titles of pushes by the event, which is the kind of its notice. */
  readonly causes: Readonly<Record<Kinds, string>>;
}

/** The words of an operation. The gateway does all that they say before the operation's own code runs, in the same order for every door. */
export interface OperationWords extends RouteWords {
  /** The least role that may call it by a grant. `owner` means that no grant allows it; without a session it means that no guest may. */
  readonly least: GrantRole | 'owner';
  /** Whether it may be called on a session of anybody by a person who may read all (`oversight`). */
  readonly overseen?: true;
  /** The rate that a call takes from. `sends` and `invokes` are new work, which is refused while the gateway drains or is late. */
  readonly rate: RateName | 'none';
  /** Units that a call takes of its rate, by measured time of the event loop. @default 1 */
  readonly cost?: (params: Readonly<Record<string, unknown>>) => number;
  /** Whether it is refused while the gateway drains, although it takes no rate of new work. */
  readonly isNew?: true;
  /** Whether it is about a connection of its caller. Over a socket it is about the socket's own. */
  readonly ofConnection?: true;
  /** Present for an act that is noted for audits: the params that are noted with it, ids and names alone, such as `with.userId`. */
  readonly audit?: readonly string[];
  /** Whether it makes the session larger, so that there must be room for it. */
  readonly fills?: true;
  /** The least params that it takes, for tests and documents. A test replaces the names of sessions and connections. */
  readonly sample: Readonly<Record<string, unknown>>;
}
