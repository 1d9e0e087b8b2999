import type { LoggedEventType, SessionStatus } from '../../shared/events.js';
import { initialState, type SessionState } from '../../shared/fold.js';
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
  /** How many runs of the log have ended since that was first counted: those who wait for one look when it changes. */
  readonly ended?: number;
  /** The active run waits for its time or for a person, and nobody need take it up before: what is due, or what answers it, does. */
  readonly parked?: true;
}

/** The activity of a session that does nothing. */
export const IDLE: Activity = Object.freeze({ status: 'idle', queued: 0 });

/** Where a session comes from that began with the messages of another one. */
export interface ForkedFrom {
  readonly sessionId: string;
  /** The last message that it has from there; null for none. */
  readonly messageId: string | null;
}

/** What a store knows of a session beside its log. */
export interface SessionRecord extends About {
  readonly ref: SessionRef;
  readonly epoch: string;
  readonly createdAt: number;
  /** When it was last used. */
  readonly updatedAt: number;
  readonly closed: boolean;
  /** The user who created it, where there is one. */
  readonly userId?: string;
  readonly forkedFrom?: ForkedFrom;
  readonly activity: Activity;
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
  readonly activity: Activity;
}

/** The fold of a log just before its first retained event. Messages are rows of their own. */
export interface Checkpoint {
  readonly seq: number;
  /** The fold at `seq`, with `messages` left empty: they are the path that ends with its `tip`. */
  readonly state: SessionState;
}

/**
 * The messages that a conversation begins with: the path that ends with `tip` in another log, as far as that is in rows, and others
 * behind it. Their `versions` stay where they come from.
 */
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

/** A session that begins. */
export interface NewSession {
  readonly epoch: string;
  readonly userId?: string;
  /** It has these messages as rows from the start; the log that they come from is not changed. */
  readonly from?: LogSource;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly forkedFrom?: ForkedFrom;
}

/** How far a writer was with a log. */
export interface HeldBefore {
  readonly epoch: string;
  readonly term: number;
  /** The last batch that was answered; 0 for none. At most one more was sent. */
  readonly batch: number;
  /** Place of its last event. */
  readonly last: number;
}

/** How a session is taken. */
export interface AcquireOptions {
  readonly holder: string;
  /** Begins an absent or closed session anew. */
  readonly create?: NewSession;
  /** A holder that is dead: it may be taken from that one. Of a store that is shared. */
  readonly from?: string;
  /**
   * Goes on with a log under the term that it was held by, where the store was closed without a word and opened again, and nobody has
   * taken it since; else it is `absent`. Of a store that several processes use by another one.
   */
  readonly again?: HeldBefore;
  /** Called when another writer has taken it from this one. May come late, or never: the term alone is what writes are safe by. */
  readonly taken?: () => void;
}

/** How long a store knows what was done `once`, in milliseconds: many times as long as anybody asks for it. */
export const ONCE_MS = 5 * 60_000;

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
  /** What lists say of the session from this batch on, and when it was used with it, in milliseconds since the epoch by the store's clock; absent where that has not changed. */
  readonly about?: About & { readonly usedAt?: number };
  /**
   * Names work that may be asked for again, of another writer too: where a batch of this name was appended to the session within
   * `ONCE_MS`, nothing is written. Of a store that is shared.
   */
  readonly once?: string;
  /** Records of the session that are put or dropped with this batch, which may have no events: each is named once. */
  readonly records?: readonly RecordChange[];
  /** Marks the session closed with this batch. */
  readonly close?: boolean;
  /**
   * Closes the session with this batch and drops all that is kept of it, former logs and runs included. What takes its place is a closed
   * log of this epoch with the last event of the batch alone, which tells those who were behind.
   */
  readonly erase?: string;
}

/** Whether a batch changes the log alone, as pieces of answers do. */
export function isPlain(options: AppendOptions): boolean {
  const { opens, ends, steps, activity, about, records, close, once, erase } = options;
  const changes = opens || ends || steps || activity || about || records || close;
  return !changes && once === undefined && erase === undefined;
}

/** A batch that was appended, and changed the log alone: whoever has all that is before it need not look at the store. */
export interface News {
  readonly epoch: string;
  readonly events: readonly StoredEvent[];
}

/** What takes the place of a session that is dropped: a closed log with one event, which tells those who were behind. */
export interface Notice {
  readonly epoch: string;
  readonly event: StoredEvent;
}

/** What is to be dropped for good: one session, or all of a scope. */
export type Erasure = RecordHome;

/** An erasure that has begun. */
export interface BegunErasure {
  readonly erasure: Erasure;
  /** Who does it, as a holder. */
  readonly by: string;
  /** Whether the store is vacuumed when it has ended. Otherwise nobody does it who is not asked to. */
  readonly vacuum: boolean;
}

/** What became of an append. */
export interface AppendResult {
  readonly epoch: string;
  readonly first: number;
  readonly last: number;
  /** The run that the key of `opens` has started already: nothing was written. */
  readonly duplicate?: RunRecord;
  /** What is named by `once` was done already: nothing was written. Absent where it was not. */
  readonly repeated?: true;
  /** A record is not the one that a change of `records` asked for: nothing was written. */
  readonly stale?: true;
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

/** A place in the list of a scope's sessions, which are in the order of their last use. */
export interface ListPlace {
  readonly updatedAt: number;
  /** Tells sessions apart that were used at the same time: each has its own. */
  readonly ordinal: number;
}

/** Paging through sessions, from the one that was used last. */
export interface PageOptions {
  readonly limit: number;
  /** Only those that were used before this place. */
  readonly before?: ListPlace | undefined;
}

/** Which sessions are listed. */
export interface ListFilter {
  /** Those that are archived, or those that are not. @default false */
  readonly archived?: boolean | undefined;
  readonly status?: SessionStatus | undefined;
  /** A part of the title, compared by `searched`. */
  readonly query?: string | undefined;
}

/** A page of sessions. */
export interface ListPage {
  readonly records: readonly SessionRecord[];
  /** The place of the last of them; null where there are no more. */
  readonly next: ListPlace | null;
}

/** The end of a path of messages. */
export interface PathOptions {
  /** Id of the last message. */
  readonly tip: string;
  readonly limit: number;
}

/** What a log begins with. */
export interface LogBeginning extends Pick<NewSession, 'title' | 'metadata'> {
  /** The last of the messages that are rows. */
  readonly tip?: string | undefined;
  /** How many there are of its path. */
  readonly messageCount?: number;
}

/** The checkpoint of a log that nothing was appended to. */
export function firstCheckpoint({ tip, messageCount = 0, title, metadata }: LogBeginning = {}): Checkpoint {
  const given = { ...(title !== undefined && { title }), ...(metadata && { metadata }) };
  const path = tip === undefined ? {} : { tip, hasMore: true, messageCount };
  return { seq: 0, state: { ...initialState, ...path, ...given } };
}

/**
 * Where logs and session records live. Every member may answer at once or by promise. What `append` has answered is kept at the
 * store's durability; nothing is delivered to a client before. One contract suite (testing/stores) describes each member.
 */
export interface Store {
  /** What survives: nothing, the end of the process, or the loss of power. */
  readonly durability: 'memory' | 'process' | 'disk';
  /** Where files are kept by a gateway that was given this store and no other place for them. @default memory */
  readonly files?: FileStore;
  /** Present where several gateways may use it at once. */
  readonly shared?: SharedStore;
  open(): MaybePromise<void>;
  close(): MaybePromise<void>;
  /**
   * Writes something that changes nothing anybody reads, the way an append is written; for readiness.
   *
   * @throws StoreError when it can't be written now @default it is taken for writable while it is open
   */
  check?(): MaybePromise<void>;

  /**
   * Takes the session for writing under a new, higher term. With `create` an absent or closed session begins anew under
   * that epoch; without it such a session is `absent`. One that begins with messages, a title or metadata has a checkpoint of them at 0.
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

  /**
   * Puts and drops records of one home, all or none. Those of a session that its holder writes go with an append.
   *
   * @returns false where one is not the record that a change asked for
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
   * Takes records that are due, for one gateway alone: whoever took one before cannot change it any more by the token that it has. One
   * that is neither put nor dropped within the lease is due again.
   */
  takeDue(options: TakeOptions): MaybePromise<Taken>;

  /** Epochs of the logs of a session that are kept, the oldest first: the conversations that were held under its key, in order. */
  conversations(ref: SessionRef): MaybePromise<readonly string[]>;

  /** A run of a session, for 24 hours after its end at least, also of a closed log. */
  run(ref: SessionRef, name: RunName): MaybePromise<RunRecord | null>;

  /**
   * Drops the events up to `checkpoint.seq` once the checkpoint and the messages folded since the last cut are kept, as rows by their
   * ids: one that is there is replaced. The `versions` that one of them names know of it from then on.
   *
   * @param term The writer's. @throws StoreError `FENCED` when another writer took over
   */
  cut(log: LogRef, checkpoint: Checkpoint, messages: readonly Message[], term: number): MaybePromise<void>;
  checkpoint(log: LogRef): MaybePromise<Checkpoint | null>;
  /** Messages that are rows: the last `limit` of the path that ends with `tip`, oldest first. A path ends before a parent that is no row. */
  messages(log: LogRef, path: PathOptions): MaybePromise<readonly Message[]>;
  /** Ids of the messages that are rows and follow one, or nothing (`null`): the `versions` of any of them. */
  replies(log: LogRef, parent: string | null): MaybePromise<readonly string[]>;
  /** How many messages that are rows the path to one has; 0 where there is no such row. */
  pathLength(log: LogRef, tip: string): MaybePromise<number>;

  record(ref: SessionRef): MaybePromise<SessionRecord | null>;
  /**
   * Open sessions of a scope, most recently used first; a session that begins counts as used. They move to the front alone: paging from a
   * place that a former page returned neither leaves out nor repeats one that was not used meanwhile.
   */
  list(scope: string, page: PageOptions, filter?: ListFilter): MaybePromise<ListPage>;
  /** How many open sessions a scope has. */
  count(scope: string): MaybePromise<number>;
  /** What a session and its scope take up: their events and messages that are kept, also those of closed logs. */
  usage(ref: SessionRef): MaybePromise<StoredSize>;

  /**
   * Open sessions, but for those that are parked, with a run that has not ended, or that were doing something when their writer was last heard of. Found without reading
   * logs. On a store that is shared only those that no living gateway holds, and who held them.
   */
  unfinished(): MaybePromise<readonly (SessionRef & { readonly from?: string })[]>;

  /** Drops runs that ended, and logs that were closed, before these times, in milliseconds since the epoch. */
  expire(before: { readonly runs: number; readonly closedLogs: number }): MaybePromise<void>;

  /**
   * Drops all that is kept of a closed session, its runs included. One that is open is left as it is.
   *
   * @param notice Takes the place of what was there, if anything was.
   */
  remove(ref: SessionRef, notice?: Notice): MaybePromise<void>;

  /**
   * Sessions of which anything is kept, also closed ones and those of which runs alone are left, each once, in an order of the store's.
   *
   * @param page.after The last one of the page before.
   */
  kept(
    scope: string,
    page: { readonly limit: number; readonly after?: SessionRef },
  ): MaybePromise<readonly SessionRef[]>;
  /** Remembers, durably before it answers, that something is being erased, until `endErasure`. The same again takes its place. */
  beginErasure(begun: BegunErasure): MaybePromise<void>;
  /** What is being erased. A store that vacuums when it is opened says so of what it found then. */
  erasures(): MaybePromise<readonly BegunErasure[]>;
  /** Forgets an erasure. What it has dropped goes with the next `vacuum`, also one that another process makes. */
  endErasure(erasure: Erasure): MaybePromise<void>;
  /**
   * Leaves no byte of what was dropped where the store keeps things. May hold up every other call.
   *
   * @throws StoreError @default what is dropped is gone at once
   */
  vacuum?(): MaybePromise<void>;
  /**
   * Copies all that is kept, as it is at one moment between two appends, to where a store of the same kind can open it, and `files`
   * where it has them. The copy is there as a whole or not at all.
   *
   * @throws GatewayError `STORE_FAILED`; `details.reason` says why @default it can't be copied
   */
  backup?(path: string): MaybePromise<void>;

  /**
   * Calls `wake` when somebody may have appended. Wakes can be doubled or late, and lost only where another one follows: a store that
   * hears of others over a network wakes once it hears them, and again after each time it may have been deaf. A wake may have the batch
   * that was appended, once it is stored, and tells nothing of others.
   */
  watch(ref: SessionRef, wake: (news?: News) => void): () => void;
}
