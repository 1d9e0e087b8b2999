import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Arrivals } from '../stores/about.js';
import type { RecordChange } from '../stores/records.js';
import type { EndingRun } from './append-group.js';
import type { LogBatch } from './batch.js';
import type { Moderation } from './moderation.js';
import type { Retention } from './retention.js';

/** Size of the messages of a page where nothing else is said, in bytes of JSON. */
export const DEFAULT_PAGE_BYTES = 4 * 1024 * 1024;

/** What the owner of a log hears. */
export interface LogListener {
  /** Events were committed. Called once for all commits of a flush. */
  committed(batch: LogBatch): void;
  /** The store refused a write under a term: the log can't be written any more and what was pending is not in it. */
  broken(term: number, error: unknown): void;
  /** The store can't be written or cut now; what was appended is kept here and tried again. */
  unavailable(error: unknown): void;
  /** The store did not take a write, or did not say whether it did. */
  refused(): void;
}

/** Events that are about to be appended and change what the session is doing, with the states before and after them. */
export interface SessionChange {
  /** The place before the first of them. */
  readonly head: number;
  readonly events: readonly GatewayEvent[];
  /** The runs that may end with them. */
  readonly ends: readonly EndingRun[];
  readonly before: SessionState;
  readonly after: SessionState;
}

/** How a log is kept, and by whom. */
export interface LogOptions {
  readonly retention: Retention;
  readonly listener: LogListener;
  /** How long pieces of answers wait for others. */
  readonly moderation: Moderation;
  /** What has arrived in it so far, as its record says. @default nothing */
  readonly arrivals?: Arrivals | undefined;
  /** Records that come of a change, written in the same append: the same ones each time it is asked. It must not throw. @default none */
  readonly recordsOf?: ((change: SessionChange) => readonly RecordChange[]) | undefined;
  /** The time by which events age, in milliseconds since the epoch. */
  readonly now: () => number;
}
