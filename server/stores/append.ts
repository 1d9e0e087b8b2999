import { knownInEveryCopy } from '../../shared/in-every-copy.js';
import type { About } from './about.js';
import type { RecordChange } from './records.js';
import type { Rewrites } from './rewrites.js';
import type { SaidChanges } from './said.js';
import type { Activity, KeptResult, MessageRow, RunRecord, StepRecord, StoredEvent } from './stored.js';

/** An event to be logged. `append` fills in its place; a store may keep the object itself. */
export interface EventRecord extends StoredEvent {
  seq: number;
  term: number;
}

/** A run that a batch creates, as its writer describes it. */
export interface NewRun {
  readonly runId: string;
  /** The idempotency key: it starts at most one run of the session. */
  readonly key?: string | undefined;
  /** SHA-256 of the canonical body that the key was sent with, base64url. */
  readonly hash?: string | undefined;
  /** The request that starts the run again, as JSON. Kept apart from the log, so that readers of a session never see it. */
  readonly request: string;
}

/** A run that ends with a batch, and its result. */
export interface RunEnd {
  readonly runId: string;
  readonly result: Omit<KeptResult, 'cursor'>;
}

/** The options of `append`, and all changes that belong to the same atomic append as the events. */
export interface AppendOptions {
  /** The writer's fencing token. The store refuses a token older than its own. */
  readonly term: number;
  /** Number of this batch within its term, from 1. A repeated number is a resend: the store answers it and writes nothing. */
  readonly batch: number;
  /** The run that this batch creates, by a `message_accepted` in it. The run is open until a batch names it in `ends` or closes the session. */
  readonly opens?: NewRun;
  /** The runs that end with this batch. */
  readonly ends?: readonly RunEnd[];
  /**
   * Steps that begin or end with this batch, which may have no events. A step replaces the former one of its number and is kept until its run ends.
   * Under `durability: 'process'` it survives a loss of power, as the run does. Steps of a run that is not open are ignored.
   */
  readonly steps?: readonly StepRecord[];
  /** The session's activity from this batch on; absent if it is unchanged. */
  readonly activity?: Activity;
  /** The session's list entry from this batch on, and the time of use in milliseconds since the epoch by the store's clock; absent if unchanged. */
  readonly about?: About & { readonly usedAt?: number };
  /** Records of the session to put or drop with this batch, which may have no events. Each record occurs once. */
  readonly records?: readonly RecordChange[];
  /** Messages to keep as rows with this batch, which may have no events: as `cut` does. For the beginning of a conversation. */
  readonly messages?: readonly MessageRow[];
  /** Changes of the texts that the conversation shows, for search; absent if they are unchanged. A store without `search` leaves them. */
  readonly said?: SaidChanges;
  /** Earlier events of the log that say something else from this batch on, which may have no events. */
  readonly rewrites?: Rewrites;
  /** Marks the session closed with this batch. */
  readonly close?: boolean;
  /**
   * Closes the session with this batch and drops all its data, former logs and runs included. A closed log of this epoch replaces it. It has only the
   * batch's last event, which tells subscribers that lag behind.
   */
  readonly erase?: string;
}

/** Whether a batch changes only the log, as pieces of answers do. */
export function isPlain(options: AppendOptions): boolean {
  const { opens, ends, steps, activity, about, records, messages, said, rewrites } = options;
  const changes = opens || ends || steps || activity || about || records || messages || said || rewrites;
  return !changes && !options.close && options.erase === undefined;
}

/** An appended batch that changed only the log. A reader that has everything before it need not read the store. */
export interface News {
  readonly epoch: string;
  readonly events: readonly StoredEvent[];
}

/** The outcome of an append. */
export interface AppendResult {
  readonly epoch: string;
  readonly first: number;
  readonly last: number;
  /** The run that the key of `opens` started before. Nothing was written. */
  readonly duplicate?: RunRecord;
  /** A record does not have the token that `records` requires. Nothing was written. */
  readonly stale?: true;
}

/**
 * Why a store refused a write. `FENCED`: another writer took over. `ROLLED_BACK`: a batch is missing, because the store lost a tail. `UNAVAILABLE`:
 * nothing was written; the same batch, or another one under the same number, may be tried again. `UNKNOWN`: the batch may have been written, because
 * the answer was lost or a sync failed; only the same batch may be tried again, under the same number, until the store answers. `REFUSED`: nothing was
 * written, and never will be, because the store cannot keep this data; another batch may be written under the same number.
 */
export type StoreErrorCode = 'FENCED' | 'ROLLED_BACK' | 'UNAVAILABLE' | 'UNKNOWN' | 'REFUSED';

/** A write failed, or its outcome is unknown. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** Whether the store has no room left: on its disk, or in its memory. */
  readonly isFull: boolean;

  constructor(
    code: StoreErrorCode,
    message: string,
    { isFull = false, ...options }: ErrorOptions & { readonly isFull?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
    this.isFull = isFull;
  }
}

knownInEveryCopy(StoreError, 'store-error');

/** The place of the `message_accepted` in a batch that begins at `first`; `first` if it has none. */
export function placeOfAccepted(events: readonly StoredEvent[], first: number): number {
  return (
    first +
    Math.max(
      0,
      events.findIndex(({ type }) => type === 'message_accepted'),
    )
  );
}

/** The place of a run's `message_end` in a written batch; the place of the batch's last event if it has none. */
export function placeOfEnd(events: readonly StoredEvent[], runId: string, last: number): number {
  return events.findLast((event) => event.type === 'message_end' && event.runId === runId)?.seq ?? last;
}
