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

/** The rates of a caller that operations take from. */
export type RateName = 'sends' | 'invokes' | 'reads';

/** Words of an event. */
export interface EventWords {
  readonly summary: string;
  /** Whether it has values from an app or a caller, which may change them afterwards. */
  readonly foreign?: true;
}

/** The words of a feature. They import nothing but types, so that every table can read it. */
export interface FeatureWords<Operations, Events, Limits> {
  readonly operations: { readonly [Name in keyof Operations]: OperationWords };
  readonly events: { readonly [Name in keyof Events]: EventWords };
  readonly limits: Limits;
}

/** The words of an operation. The gateway does all that they say before the operation's own code runs, in the same order for every door. */
export interface OperationWords extends RouteWords {
  /** The least role that may call it by a grant. `owner` means that no grant allows it; without a session it means that no guest may. */
  readonly least: GrantRole | 'owner';
  /** The rate that a call takes from. `sends` and `invokes` are new work, which is refused while the gateway drains or is late. */
  readonly rate: RateName | 'none';
  /** Units that a call takes of its rate, by measured time of the event loop. @default 1 */
  readonly cost?: (params: Readonly<Record<string, unknown>>) => number;
  /** Whether it is refused while the gateway drains, although it takes no rate of new work. */
  readonly isNew?: true;
  /** Whether it makes the session larger, so that there must be room for it. */
  readonly fills?: true;
  /** The least params that it takes, for tests and documents. A test replaces the names of sessions and connections. */
  readonly sample: Readonly<Record<string, unknown>>;
}
