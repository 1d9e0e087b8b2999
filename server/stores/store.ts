import type { LoggedEventType, SessionStatus } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { FileStore } from './files/file-store.js';

/** A session's stored identity. */
export interface SessionRef {
  readonly scope: string;
  readonly app: string;
  readonly name: string;
}

/** One incarnation of a session: a closed session that is used again gets a new log under a new epoch. */
export interface LogRef extends SessionRef {
  readonly epoch: string;
}

/** An event of a log. `body` is its wire JSON without the fields that depend on its place. */
export interface StoredEvent {
  readonly seq: number;
  readonly term: number;
  readonly type: LoggedEventType;
  readonly ts: number;
  readonly runId: string | undefined;
  readonly body: string;
}

/** An event to be logged. `append` fills in its place; a store may keep the object itself. */
export interface EventRecord extends StoredEvent {
  seq: number;
  term: number;
}

/** How a run is named: by its own id, or by the idempotency key that it was sent under. */
export type RunName = { readonly runId: string } | { readonly key: string };

/** A run that begins to exist with a batch, as its writer describes it. */
export interface NewRun {
  readonly runId: string;
  /** Starts at most one run of its session. */
  readonly key?: string | undefined;
  /** SHA-256 of the canonical body that the key was sent with, base64url. */
  readonly hash?: string | undefined;
  /** JSON: what it takes to start the run again. Kept apart from the log: readers of a session never see it. */
  readonly request: string;
}

/** A run as a store keeps it: from its acceptance on, until some time after its end, also where its log is cut or closed. */
export interface RunRecord {
  readonly runId: string;
  readonly key?: string;
  readonly hash?: string;
  /** Of the log it was accepted in. */
  readonly epoch: string;
  /** Place of its `message_accepted`. */
  readonly accepted: number;
  /** As its writer described it, while it has not ended. */
  readonly request?: string;
  /** How it ended. */
  readonly result?: RunResult;
}

/** A durable step of a run. Kept beside the log: it has no place in it, and no reader of a session sees it. */
export interface StepRecord {
  readonly runId: string;
  /** Its number in its run, from 1. */
  readonly number: number;
  readonly name: string;
  /** JSON: how it ended. Absent while it has only begun. */
  readonly outcome?: string;
}

/** A run that a former writer left open. */
export interface LeftRun extends RunRecord {
  /** In the order of their numbers. Absent where there are none. */
  readonly steps?: readonly StepRecord[];
}

/** What a session is doing, as its writer last stored it. */
export interface Activity {
  readonly status: SessionStatus;
  /** The active run. */
  readonly runId?: string;
  /** Place just before the first event of the active run's: where its viewers start. */
  readonly start?: number;
  /** Messages that wait for their run. */
  readonly queued: number;
}

/** The activity of a session that does nothing. */
export const IDLE: Activity = Object.freeze({ status: 'idle', queued: 0 });

/** What a store knows of a session beside its log. */
export interface SessionRecord {
  readonly ref: SessionRef;
  readonly epoch: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly closed: boolean;
  /** The user who created it, where there is one. */
  readonly userId?: string;
  /** Absent where none was ever stored. */
  readonly activity?: Activity;
}

/** Sizes of what is kept, in characters of JSON. */
export interface StoredSize {
  readonly session: number;
  /** Of all sessions of the scope together. */
  readonly scope: number;
}

/** Where a log begins and ends, and which writer wrote what. */
export interface LogHead {
  readonly epoch: string;
  /** The last writer's fencing token. */
  readonly term: number;
  /** Lowest retained sequence number; `head + 1` when nothing is retained. */
  readonly first: number;
  readonly head: number;
  /** First sequence number of each term, ascending. */
  readonly terms: readonly { readonly term: number; readonly first: number }[];
  readonly closed: boolean;
  /** Absent where none was ever stored. */
  readonly activity?: Activity;
}

/** The fold of a log just before its first retained event. Messages are rows of their own. */
export interface Checkpoint {
  readonly seq: number;
  /** The fold at `seq`, with `messages` left empty: they are the path that ends with its `tip`. */
  readonly state: SessionState;
}

/** The messages that a conversation begins with: the path that ends with `tip` in another log, as far as that is in rows, and others behind it. */
export interface LogSource {
  readonly log?: LogRef;
  readonly tip?: string;
  /** Each names the one before it as its `parentId`. */
  readonly messages: readonly Message[];
}

/** A store's answer to `acquire`. */
export type Acquired =
  | {
      readonly kind: 'acquired';
      readonly record: SessionRecord;
      readonly head: LogHead;
      /** The runs that a former writer left open, in the order of their acceptance. */
      readonly openRuns: readonly LeftRun[];
      readonly created: boolean;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'owned'; readonly holder: string };

/** A run that ends with a batch, and how. */
export interface RunEnd {
  readonly runId: string;
  readonly result: Omit<RunResult, 'cursor'>;
}

/** How a session is taken. */
export interface AcquireOptions {
  readonly holder: string;
  /**
   * Begins an absent or closed session anew under this epoch. With `from` it has those messages as rows from the start, and a
   * checkpoint at 0 whose `tip` is the last of them; the log that they come from is not changed.
   */
  readonly create?: { readonly epoch: string; readonly userId?: string; readonly from?: LogSource };
  /** Called when another writer has taken it from this one. May come late, or never: the term alone is what writes are safe by. */
  readonly taken?: () => void;
}

/** What goes with a batch of events, in the same atomic append. */
export interface AppendOptions {
  /** The writer's fencing token; an older one than the store's is refused. */
  readonly term: number;
  /** Number of this batch within its term, from 1. A repeated number is a resend and is answered, not written, again. */
  readonly batch: number;
  /** The run that begins to exist with this batch, which holds its `message_accepted`. Open until a batch names it in `ends` or closes the session. */
  readonly opens?: NewRun;
  /** The runs that end with this batch. */
  readonly ends?: readonly RunEnd[];
  /**
   * Steps that begin or end with this batch, which may have no events: one of the same number is replaced. Kept until their run ends,
   * like it, under `durability: 'process'` through the loss of power; of a run that is not open nothing is kept.
   */
  readonly steps?: readonly StepRecord[];
  /** What the session is doing from this batch on; absent where that has not changed. */
  readonly activity?: Activity;
  /** Marks the session closed with this batch. */
  readonly close?: boolean;
}

/** What became of an append. */
export interface AppendResult {
  readonly epoch: string;
  readonly first: number;
  readonly last: number;
  /** The run that the key of `opens` has started already: nothing was written. */
  readonly duplicate?: RunRecord;
}

/**
 * Why a store refused a write. `FENCED`: another writer took over. `ROLLED_BACK`: a batch is missing, the store lost a tail.
 * `UNAVAILABLE`: it can't write now and has not; the same batch, or another one under the same number, may be tried again.
 * `UNKNOWN`: it may have written it or not, because its answer was lost or a sync failed; only the same batch may be tried again,
 * under the same number, until the store says what became of it.
 */
export type StoreErrorCode = 'FENCED' | 'ROLLED_BACK' | 'UNAVAILABLE' | 'UNKNOWN';

/** A write that was not made, or of which that is not known. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/** The place of the `message_accepted` of a batch that begins at `first`; that of its first event where it has none. */
export function placeOfAccepted(events: readonly StoredEvent[], first: number): number {
  return (
    first +
    Math.max(
      0,
      events.findIndex(({ type }) => type === 'message_accepted'),
    )
  );
}

/** The place of the `message_end` of a run in a batch that was written; that of the batch's last event where it has none. */
export function placeOfEnd(events: readonly StoredEvent[], runId: string, last: number): number {
  return events.findLast((event) => event.type === 'message_end' && event.runId === runId)?.seq ?? last;
}

/** Paging backwards through sessions. */
export interface PageOptions {
  readonly limit: number;
  /** Only what comes before this place. */
  readonly before?: number | undefined;
}

/** The end of a path of messages. */
export interface PathOptions {
  /** Id of the last message. */
  readonly tip: string;
  readonly limit: number;
}

/** The checkpoint of a log that nothing was appended to: it begins with the messages that end with `tip`, or with none. */
export function firstCheckpoint(tip: string | null): Checkpoint {
  return { seq: 0, state: { ...initialState, tip, hasMore: tip !== null } };
}

/**
 * Where logs and session records live. Every member may answer at once or by promise. What `append` has answered is kept at the
 * store's durability; nothing is delivered to a client before. One contract suite (test/contract) describes each member.
 */
export interface Store {
  /** What survives: nothing, the end of the process, or the loss of power. */
  readonly durability: 'memory' | 'process' | 'disk';
  /** Where files are kept by a gateway that was given this store and no other place for them. @default memory */
  readonly files?: FileStore;
  open(): MaybePromise<void>;
  close(): MaybePromise<void>;

  /**
   * Takes the session for writing under a new, higher term. With `create` an absent or closed session begins anew under
   * that epoch; without it such a session is `absent`.
   */
  acquire(ref: SessionRef, options: AcquireOptions): MaybePromise<Acquired>;
  /** Gives the session up, if `term` still holds it. */
  release(ref: SessionRef, term: number): MaybePromise<void>;

  /** Appends a batch atomically. @throws StoreError */
  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): MaybePromise<AppendResult>;
  /** Events after `after`, in order: at most `limit`, and no more than one past `bytes` characters of bodies. */
  read(log: LogRef, after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]>;
  /** The current log of a session, or the one of an epoch; null when there is none. */
  head(ref: SessionRef, epoch?: string): MaybePromise<LogHead | null>;

  /** Epochs of the logs of a session that are kept, the oldest first: the conversations that were held under its key, in order. */
  conversations(ref: SessionRef): MaybePromise<readonly string[]>;

  /** A run of a session, for 24 hours after its end at least, also of a closed log. */
  run(ref: SessionRef, name: RunName): MaybePromise<RunRecord | null>;
  /** The session that a run of a scope belongs to. */
  sessionOf(scope: string, runId: string): MaybePromise<SessionRef | null>;

  /**
   * Drops the events up to `checkpoint.seq` once the checkpoint and the messages folded since the last cut are kept, as rows by their
   * ids: one that is there is replaced.
   *
   * @param term The writer's. @throws StoreError `FENCED` when another writer took over
   */
  cut(log: LogRef, checkpoint: Checkpoint, messages: readonly Message[], term: number): MaybePromise<void>;
  checkpoint(log: LogRef): MaybePromise<Checkpoint | null>;
  /** Messages that are rows: the last `limit` of the path that ends with `tip`, oldest first. A path ends before a parent that is no row. */
  messages(log: LogRef, path: PathOptions): MaybePromise<readonly Message[]>;

  record(ref: SessionRef): MaybePromise<SessionRecord | null>;
  /** Open sessions of a scope, most recently created first. `before` is a place that a former page returned. */
  list(
    scope: string,
    page: PageOptions,
  ): MaybePromise<{ readonly records: readonly SessionRecord[]; readonly next: number | null }>;
  /** How many open sessions a scope has. */
  count(scope: string): MaybePromise<number>;
  /** What a session and its scope take up: their events and messages that are kept, also those of closed logs. */
  usage(ref: SessionRef): MaybePromise<StoredSize>;

  /** Open sessions with a run that has not ended, or that were doing something when their writer was last heard of. Found without reading logs. */
  unfinished(): MaybePromise<readonly SessionRef[]>;

  /** Drops runs that ended, and logs that were closed, before these times, in milliseconds since the epoch. */
  expire(before: { readonly runs: number; readonly closedLogs: number }): MaybePromise<void>;

  /** Drops all that is kept of a closed session, its runs included. One that is open is left as it is. */
  remove(ref: SessionRef): MaybePromise<void>;

  /** Calls `wake` when somebody may have appended. Wakes carry no data; they can be lost, doubled or late. */
  watch(ref: SessionRef, wake: () => void): () => void;
}
