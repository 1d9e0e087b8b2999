import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Arrivals } from '../stores/about.js';
import type { RecordChange } from '../stores/records.js';
import type { EndingRun } from './append-group.js';
import type { LogBatch } from './batch.js';
import type { Moderation } from './moderation.js';
import type { Retention } from './retention.js';

/** Default size of a page of messages, in bytes of JSON. */
export const DEFAULT_PAGE_BYTES = 4 * 1024 * 1024;

/** The notifications that the owner of a log receives. */
export interface LogListener {
  /** Called after events were committed, once for all commits of a flush. */
  committed(batch: LogBatch): void;
  /** The store refused a write under a term. The log can't be written any more, and pending events are not in it. */
  broken(term: number, error: unknown): void;
  /** The store can't be written or cut now. Appended events are kept here and tried again. */
  unavailable(error: unknown): void;
  /** The store refused a write, or did not say whether it took it. */
  refused(): void;
  /** The store can never keep events of these runs, which have to end. The log goes on without them. */
  rejected(runIds: Iterable<string>, error: unknown): void;
}

/** Events about to be appended that change the activity of the session, with the states before and after them. */
export interface SessionChange {
  /** The place before the first event. */
  readonly head: number;
  readonly events: readonly GatewayEvent[];
  /** The runs that the events may end. */
  readonly ends: readonly EndingRun[];
  readonly before: SessionState;
  readonly after: SessionState;
}

/** The settings of a log, and its owner. */
export interface LogOptions {
  readonly retention: Retention;
  readonly listener: LogListener;
  /** Decides how long pieces of answers wait to be joined. */
  readonly moderation: Moderation;
  /** The arrivals of the log so far, from its record. @default none */
  readonly arrivals?: Arrivals | undefined;
  /**
   * Changes of records that follow from the events, for the same append. Must return the same ones on every call, and must not throw.
   *
   * @default none
   */
  readonly recordsOf?: ((change: SessionChange) => readonly RecordChange[]) | undefined;
  /** The clock for ageing, in milliseconds since the epoch. */
  readonly now: () => number;
}
