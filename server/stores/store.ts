import type { MaybePromise } from '../async/maybe-promise.js';
import type { AppendOptions, AppendResult, EventRecord, News } from './append.js';
import type { FileStore } from './files/file-store.js';
import type { ListFilter, ListPage, PageOptions } from './listing.js';
import type {
  ChangeOptions,
  RecordChange,
  RecordHome,
  RecordQuery,
  StoredRecord,
  Taken,
  TakeOptions,
} from './records.js';
import type { SaidPage, SaidQuery } from './said.js';
import type { SharedStore } from './shared-store.js';
import type {
  Checkpoint,
  ForkedFrom,
  LeftRun,
  LogHead,
  LogRef,
  MessageRow,
  RunName,
  RunRecord,
  SessionRecord,
  SessionRef,
  StoredEvent,
  StoredSize,
} from './stored.js';

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

/** A session that begins. */
export interface NewSession {
  readonly epoch: string;
  readonly userId?: string;
  readonly forkedFrom?: ForkedFrom;
  /** For a copy of a log, whose places stay as they were. @default from the first event, now */
  readonly copied?: CopiedLog;
}

/** The beginning of a copy of a log. */
export interface CopiedLog {
  /** The copy begins behind this place, whose checkpoint is given by `cut`; 0 for a log that was never cut. */
  readonly after: number;
  /** When the log began, in milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Options of `acquire`. */
export interface AcquireOptions {
  readonly holder: string;
  /** Begins an absent or closed session anew. */
  readonly create?: NewSession;
  /** The term under which a copy of a log is written: higher than any that it has, or the last of them, to go on. @default one of the store */
  readonly term?: number;
  /** A dead holder that the session may be taken from. Only for a shared store. */
  readonly from?: string;
  /** Called when another writer took the session from this one. The call may come late or never: only the term makes writes safe. */
  readonly taken?: () => void;
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
   * @returns false if a record does not have the token that a change requires, or if one is put into a session that has no log or was erased:
   *   nothing is written
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

  /** The runs of a session that have not ended, with their steps, in the order of their acceptance: as `acquire` answers them, and takes nothing. */
  openRuns(ref: SessionRef): MaybePromise<readonly LeftRun[]>;

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
   * Open sessions of a scope, or with `null` of all scopes, most recently used first; a session that begins counts as used. Sessions move only to the
   * front, so paging neither skips nor repeats a session that is not used meanwhile.
   */
  list(scope: string | null, page: PageOptions, filter?: ListFilter): MaybePromise<ListPage>;
  /**
   * Finds what open conversations show, by words. Every answered append is found.
   *
   * @default the gateway reads the conversations
   */
  search?(query: SaidQuery): MaybePromise<SaidPage>;
  /** The number of open sessions of a scope. */
  count(scope: string): MaybePromise<number>;
  /** The sizes of a session and its scope: kept events and messages, also those of closed logs. */
  usage(ref: SessionRef): MaybePromise<StoredSize>;

  /**
   * Open sessions with an unended run, or with a stored activity other than idle, except parked ones. Found without reading logs. A shared store
   * lists only sessions that no living gateway holds, with their last holder.
   */
  unfinished(): MaybePromise<readonly (SessionRef & { readonly from?: string })[]>;

  /** Drops runs that ended and logs that were closed before a time, in milliseconds since the epoch. A session goes with its last log. */
  expire(before: number): MaybePromise<void>;

  /** Drops all data of a closed session, its runs included. An open session stays as it is. */
  remove(ref: SessionRef): MaybePromise<void>;

  /**
   * Sessions with any data, also closed ones, each once, in an order of the store.
   *
   * @param page.after The last session of the previous page.
   */
  kept(
    scope: string,
    page: { readonly limit: number; readonly after?: SessionRef },
  ): MaybePromise<readonly SessionRef[]>;
  /** All scopes of which anything is kept, in no order. @default the store can't be copied to another one */
  scopes?(): MaybePromise<readonly string[]>;
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
