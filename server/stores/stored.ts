import type { LoggedEventType, SessionStatus } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { RunResult } from '../../shared/operation-types.js';
import type { About } from './about.js';

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

/** The name of a run: its id, or the idempotency key of its send. */
export type RunName = { readonly runId: string } | { readonly key: string };

/**
 * The result of an ended run. Its answer has no `content` if the conversation has it: in the event at the result's place, and once that is cut in
 * the row of the message.
 */
export interface KeptResult extends Omit<RunResult, 'message'> {
  readonly message: Omit<Message, 'content'> & Partial<Pick<Message, 'content'>>;
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
  readonly result?: KeptResult;
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
  /** The version of the app that has the active run, if it has one. */
  readonly version?: string;
  /** Place just before the first event of the active run. Viewers of the run start there. */
  readonly start?: number;
  /** Number of messages that wait for their run. */
  readonly queued: number;
  /** Count of ended runs of the log. A change tells waiters to look at their run. */
  readonly ended?: number;
  /** The active run waits for its time, for a person, or for another version of its app. A record or the answer takes the session up, nobody before. */
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
