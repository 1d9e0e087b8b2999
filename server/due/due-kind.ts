import type { MaybePromise } from '../async/maybe-promise.js';
import type { RecordChange, StoredRecord } from '../stores/records.js';
import type { LaneBound } from './bounded-lanes.js';

/** Time after which a taken record is due again if nobody has written or dropped it, in milliseconds. */
export const LEASE_MS = 15_000;

/** How a handling ends. */
export type DueOutcome =
  /** The handler has written or dropped the record with its token. */
  | { readonly done: true }
  /** The record is due again so many milliseconds later. That counts no attempt. */
  | { readonly laterMs: number }
  /** Nobody wants the work any more, so the record is dropped. */
  | { readonly drop: string }
  /** The work can't be done, however often it is tried. The record is kept aside for operators. */
  | { readonly dead: string };

export const DONE: DueOutcome = { done: true };
/** Leaves the record to another gateway, or to this one once the lease is over. */
export const LEFT: DueOutcome = { laterMs: LEASE_MS };

/** The moment at which a record is handled. */
export interface DueMoment {
  /** The time when the record was taken, by the store's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** The present time by the same clock. */
  time(): number;
  /** Aborts if the handling takes too long, or the gateway ends. */
  readonly signal: AbortSignal;
}

/** A failed attempt of a record. */
export interface FailedAttempt {
  readonly error: unknown;
  /** Attempts so far, this one included. */
  readonly attempts: number;
  /** Whether the record was given up. */
  readonly dead: boolean;
  /** When it failed, by the store's clock, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * A kind of work that falls due. Handling a record twice must be safe: the second token fences the first. A handler that throws is tried again after a
 * pause that grows; a record whose attempts are used up is kept aside for operators, and blocks nothing.
 */
export interface DueKind {
  /**
   * Whether the work is still to be done, and by this gateway: asked before each attempt. The present answers of grants, access, conversation and
   * control count, not those of the day when the record was written.
   *
   * @default it is
   */
  wanted?(record: StoredRecord, at: DueMoment): MaybePromise<true | DueOutcome>;
  /** Does the work. @throws if it should be tried again */
  do(record: StoredRecord, at: DueMoment): MaybePromise<DueOutcome>;
  /** Attempts before a record is given up. Infinite: it is tried again each time its lease ends, and nothing is counted. @default 100 */
  readonly attempts?: number;
  /** The first and the longest pause between attempts, in milliseconds, and how many times longer each is than the one before. */
  readonly backOff?: BackOff;
  /** Milliseconds for which a record that was given up is kept. @default 30 days */
  readonly deadMs?: number;
  /** The longest time that `do` may take, in milliseconds. @default 60 s */
  mostMs?(record: StoredRecord): number;
  /** Bounds of such work at a time, in place of the order of its home and of the worker's lanes. @default the order of its home */
  bounds?(record: StoredRecord): readonly LaneBound[];
  /** Writes a failed attempt in the kind's own way: these changes, for this token, and what follows from them. Resolves with whether they are written. */
  failed?(record: StoredRecord, changes: readonly RecordChange[], attempt: FailedAttempt): Promise<boolean>;
  /** The line of the log where a record is given up. @default one of its kind and id */
  givenUp?(record: StoredRecord): string;
  /** Whether the log says nothing of single attempts. @default false */
  readonly quiet?: boolean;
}

/** Pauses between attempts. */
export interface BackOff {
  readonly fromMs: number;
  readonly toMs: number;
  /** @default 2 */
  readonly times?: number;
}
