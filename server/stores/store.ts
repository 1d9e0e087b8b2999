import type { LoggedEventType, SessionStatus } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { About } from './about.js';
import type { FileStore } from './files/file-store.js';
import type {
  ChangeOptions,
  RecordChange,
  RecordHome,
  RecordQuery,
  StoredRecord,
  Taken,
  TakeOptions,
} from './records.js';
import type { SharedStore } from './shared-store.js';

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

/** A stored event. `body` is the event's wire JSON without the fields that depend on its place. */
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

/** The name of a run: its id, or the idempotency key of its send. */
export type RunName = { readonly runId: string } | { readonly key: string };

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

/** A run as stored: from its acceptance until some time after its end, even if its log is cut or closed. */
export interface RunRecord {
  readonly runId: string;
  readonly key?: string;
  readonly hash?: string;
  /** The epoch of the log that accepted the run. */
  readonly epoch: string;
  /** Place of the run's `message_accepted`. */
  readonly accepted: number;
  /** The request of a `NewRun`; absent after the run's end. */
  readonly request?: string;
  /** The result; absent before the run's end. */
  readonly result?: RunResult;
}

/** A durable step of a run. Kept beside the log, so that no reader of a session sees it. */
export interface StepRecord {
  readonly runId: string;
  /** The step's number in its run, from 1. */
  readonly number: number;
  readonly name: string;
  /** The outcome as JSON; absent before the step's end. */
  readonly outcome?: string;
}

/** A run that a former writer left open. */
export interface LeftRun extends RunRecord {
  /** Steps by number, ascending. Absent if there are none. */
  readonly steps?: readonly StepRecord[];
}

/** The activity of a session, as its writer last stored it. */
export interface Activity {
  readonly status: SessionStatus;
  /** The active run. */
  readonly runId?: string;
  /** Place just before the first event of the active run. Viewers of the run start there. */
  readonly start?: number;
  /** Number of messages that wait for their run. */
  readonly queued: number;
  /** Count of ended runs of the log. A change tells waiters to look at their run. */
  readonly ended?: number;
  /** The active run waits for its time or for a person. The due record or the answer takes the session up, nobody before. */
  readonly parked?: true;
}

/** The activity of an idle session. */
export const IDLE: Activity = Object.freeze({ status: 'idle', queued: 0 });

/** The origin of a session that began with the messages of another one. */
export interface ForkedFrom {
  readonly sessionId: string;
  /** The last message from the other session; null for none. */
  readonly messageId: string | null;
}

/** A session as stored beside its log. */
export interface SessionRecord extends About {
  readonly ref: SessionRef;
  readonly epoch: string;
  readonly createdAt: number;
  /** Time of the last use, in milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly closed: boolean;
  /** The user who created the session, if there is one. */
  readonly userId?: string;
  readonly forkedFrom?: ForkedFrom;
  readonly activity: Activity;
}

/** Sizes of stored data, in characters of JSON. */
export interface StoredSize {
  readonly session: number;
  /** Size of all sessions of the scope together. */
  readonly scope: number;
}

/** The beginning and end of a log, and the places where its terms begin. */
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
  readonly activity: Activity;
}

/** The fold of a log just before its first retained event. Messages are rows of their own. */
export interface Checkpoint {
  readonly seq: number;
  /** The fold at `seq`, with `messages` left empty: they are the path that ends with its `tip`. */
  readonly state: SessionState;
}

/** The place of a message among the stored ones of its log. */
export interface MessagePlace {
  /** Number of messages on the path that ends with it. */
  readonly depth: number;
  /**
   * Name of its branch: messages that each follow the one before as its first reply. '' for the branch that begins with the first message of the
   * log, otherwise the id of the message that begins the branch.
   */
  readonly branch: string;
}

/** A message as a store keeps it. */
export interface MessageRow extends Message, MessagePlace {}

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

/** A run that ends with a batch, and its result. */
export interface RunEnd {
  readonly runId: string;
  readonly result: Omit<RunResult, 'cursor'>;
}

/** A session that begins. */
export interface NewSession {
  readonly epoch: string;
  readonly userId?: string;
  readonly forkedFrom?: ForkedFrom;
}

/** The progress of a writer in a log. */
export interface HeldBefore {
  readonly epoch: string;
  readonly term: number;
  /** Number of the last answered batch; 0 for none. At most one more was sent. */
  readonly batch: number;
  /** Place of that batch's last event. */
  readonly last: number;
}

/** Options of `acquire`. */
export interface AcquireOptions {
  readonly holder: string;
  /** Begins an absent or closed session anew. */
  readonly create?: NewSession;
  /** A dead holder that the session may be taken from. Only for a shared store. */
  readonly from?: string;
  /**
   * Continues a log under its former term after the store's process was restarted. The answer is `absent` if somebody else took the session since.
   * Only for a store that another process serves.
   */
  readonly again?: HeldBefore;
  /** Called when another writer took the session from this one. The call may come late or never: only the term makes writes safe. */
  readonly taken?: () => void;
}

/** How long a store remembers work done `once`, in milliseconds: many times as long as anybody repeats a request. */
export const ONCE_MS = 5 * 60_000;

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
  /**
   * Name of work that may be requested again, also from another writer. Nothing is written if the session got a batch of this name within `ONCE_MS`.
   * Only for a shared store.
   */
  readonly once?: string;
  /** Records of the session to put or drop with this batch, which may have no events. Each record occurs once. */
  readonly records?: readonly RecordChange[];
  /** Messages to keep as rows with this batch, which may have no events: as `cut` does. For the beginning of a conversation. */
  readonly messages?: readonly MessageRow[];
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
  const { opens, ends, steps, activity, about, records, messages, close, once, erase } = options;
  const changes = opens || ends || steps || activity || about || records || messages || close;
  return !changes && once === undefined && erase === undefined;
}

/** An appended batch that changed only the log. A reader that has everything before it need not read the store. */
export interface News {
  readonly epoch: string;
  readonly events: readonly StoredEvent[];
}

/** The replacement of a dropped session: a closed log with one event, which tells subscribers that lag behind. */
export interface DeleteNotice {
  readonly epoch: string;
  readonly event: StoredEvent;
}

/** The outcome of an append. */
export interface AppendResult {
  readonly epoch: string;
  readonly first: number;
  readonly last: number;
  /** The run that the key of `opens` started before. Nothing was written. */
  readonly duplicate?: RunRecord;
  /** The work named by `once` was done before. Nothing was written. */
  readonly repeated?: true;
  /** A record does not have the token that `records` requires. Nothing was written. */
  readonly stale?: true;
}

/**
 * Why a store refused a write. `FENCED`: another writer took over. `ROLLED_BACK`: a batch is missing, because the store lost a tail. `UNAVAILABLE`:
 * nothing was written; the same batch, or another one under the same number, may be tried again. `UNKNOWN`: the batch may have been written, because
 * the answer was lost or a sync failed; only the same batch may be tried again, under the same number, until the store answers.
 */
export type StoreErrorCode = 'FENCED' | 'ROLLED_BACK' | 'UNAVAILABLE' | 'UNKNOWN';

/** A write failed, or its outcome is unknown. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

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

/** A place in the list of a scope's sessions, which is sorted by last use. */
export interface ListPlace {
  readonly updatedAt: number;
  /** Unique for each session, to order those that were used at the same time. */
  readonly ordinal: number;
}

/** Paging through sessions, the last used first. */
export interface PageOptions {
  readonly limit: number;
  /** Lists only sessions used before this place. */
  readonly before?: ListPlace | undefined;
}

/** Selects the sessions of a list. */
export interface ListFilter {
  /** Whether to list archived sessions instead of the others. @default false */
  readonly archived?: boolean | undefined;
  readonly status?: SessionStatus | undefined;
  /** A part of the title, compared by `searched`. */
  readonly query?: string | undefined;
}

/** A page of sessions. */
export interface ListPage {
  readonly records: readonly SessionRecord[];
  /** The place of the last session; null if there are no more. */
  readonly next: ListPlace | null;
}

/** The end of a path of messages. */
export interface PathOptions {
  /** Id of the last message. */
  readonly tip: string;
  readonly limit: number;
}

/**
 * Keeps logs and session records. Every member may answer at once or by promise. An answered `append` is kept at the store's durability, and only
 * then is it delivered to clients. One contract suite (testing/stores) describes each member.
 */
export interface Store {
  /** Stored data survives nothing, the end of the process, or the loss of power. */
  readonly durability: 'memory' | 'process' | 'disk';
  /** The file store of a gateway that has this store and no other file store. @default memory */
  readonly files?: FileStore;
  /** Present if several gateways may use the store at once. */
  readonly shared?: SharedStore;
  open(): MaybePromise<void>;
  close(): MaybePromise<void>;
  /**
   * Writes like an append, without a change that anybody can read; for readiness.
   *
   * @throws StoreError if the store cannot write now @default an open store counts as writable
   */
  check?(): MaybePromise<void>;

  /**
   * Takes the session for writing under a new, higher term. With `create` an absent or closed session begins anew under that epoch; without it such a
   * session is `absent`.
   */
  acquire(ref: SessionRef, options: AcquireOptions): MaybePromise<Acquired>;
  /** Gives the session up, if `term` still holds it. */
  release(ref: SessionRef, term: number): MaybePromise<void>;

  /** Appends a batch atomically. @throws StoreError */
  append(log: LogRef, events: readonly EventRecord[], options: AppendOptions): MaybePromise<AppendResult>;
  /** Events after `after`, in order: at most `limit`, ending with the one that reaches `bytes` characters of bodies. */
  read(log: LogRef, after: number, limit: number, bytes: number): MaybePromise<readonly StoredEvent[]>;
  /** The current log of a session, or the one of an epoch; null when there is none. */
  head(ref: SessionRef, epoch?: string): MaybePromise<LogHead | null>;

  /**
   * Puts and drops records of one home, all or none. The holder of a session changes the session's records with an append.
   *
   * @returns false if a record does not have the token that a change requires
   * @throws StoreError
   */
  changeRecords(
    home: RecordHome,
    changes: readonly RecordChange[],
    options?: ChangeOptions,
  ): MaybePromise<boolean>;
  /** Records of a home, or of an owner in all homes. */
  records(query: RecordQuery): MaybePromise<readonly StoredRecord[]>;
  /**
   * Takes due records, each for one gateway alone: earlier tokens become invalid. A record that is not put or dropped within the lease is due again.
   */
  takeDue(options: TakeOptions): MaybePromise<Taken>;

  /** Epochs of the kept logs of a session, oldest first: the conversations under its key, in order. */
  conversations(ref: SessionRef): MaybePromise<readonly string[]>;

  /** A run of a session, also of a closed log, until at least 24 hours after its end. */
  run(ref: SessionRef, name: RunName): MaybePromise<RunRecord | null>;

  /**
   * Drops the events up to `checkpoint.seq` once the checkpoint and the messages folded since the last cut are kept. Messages are rows by id and
   * replace former ones. Each stored version of a message is updated to list the new one.
   *
   * @param term The writer's. @throws StoreError `FENCED` when another writer took over
   */
  cut(log: LogRef, checkpoint: Checkpoint, messages: readonly MessageRow[], term: number): MaybePromise<void>;
  checkpoint(log: LogRef): MaybePromise<Checkpoint | null>;
  /** Messages stored as rows: the last `limit` of the path that ends with `tip`, oldest first. The path stops before a parent that is no row. */
  messages(log: LogRef, path: PathOptions): MaybePromise<readonly MessageRow[]>;
  /** Ids of the stored messages whose parent is `parent`, or that have none (`null`): the `versions` of each of them. */
  replies(log: LogRef, parent: string | null): MaybePromise<readonly string[]>;

  record(ref: SessionRef): MaybePromise<SessionRecord | null>;
  /**
   * Open sessions of a scope, most recently used first; a session that begins counts as used. Sessions move only to the front, so paging neither
   * skips nor repeats a session that is not used meanwhile.
   */
  list(scope: string, page: PageOptions, filter?: ListFilter): MaybePromise<ListPage>;
  /** The number of open sessions of a scope. */
  count(scope: string): MaybePromise<number>;
  /** The sizes of a session and its scope: kept events and messages, also those of closed logs. */
  usage(ref: SessionRef): MaybePromise<StoredSize>;

  /**
   * Open sessions with an unended run, or with a stored activity other than idle, except parked ones. Found without reading logs. A shared store
   * lists only sessions that no living gateway holds, with their last holder.
   */
  unfinished(): MaybePromise<readonly (SessionRef & { readonly from?: string })[]>;

  /** Drops runs that ended and logs that were closed before these times, in milliseconds since the epoch. */
  expire(before: { readonly runs: number; readonly closedLogs: number }): MaybePromise<void>;

  /**
   * Drops all data of a closed session, its runs included. An open session stays as it is.
   *
   * @param notice Replaces the session, if there was one.
   */
  remove(ref: SessionRef, notice?: DeleteNotice): MaybePromise<void>;

  /**
   * Sessions with any data, also closed ones and those with nothing but runs, each once, in an order of the store.
   *
   * @param page.after The last session of the previous page.
   */
  kept(
    scope: string,
    page: { readonly limit: number; readonly after?: SessionRef },
  ): MaybePromise<readonly SessionRef[]>;
  /**
   * Removes every byte of dropped data from the store's storage. May delay every other call.
   *
   * @throws StoreError @default dropped data is gone at once
   */
  vacuum?(): MaybePromise<void>;
  /**
   * Copies the store, as it is between two appends, to a path that a store of the same kind can open. Copies its `files` too. The copy is whole or
   * absent.
   *
   * @throws GatewayError `STORE_FAILED`; `details.reason` says why @default the store cannot be copied
   */
  backup?(path: string): MaybePromise<void>;

  /**
   * Calls `wake` when somebody may have appended. A wake may come twice or late, and is lost only if another one follows: a store with a network
   * wakes once it can hear others, and after each interruption. A wake may contain one stored batch, and says nothing of other batches.
   */
  watch(ref: SessionRef, wake: (news?: News) => void): () => void;
}
