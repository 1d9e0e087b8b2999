import type { LoggedEvent } from '../../shared/events.js';
import type { Message, SendInput, StopReason, Usage } from '../../shared/messages.js';
import type { ClientTool } from '../../shared/operation-types.js';
import type { Application } from './application.js';

/** The task of a child run, for `turn.spawn`. */
export interface SpawnOptions {
  /** The message that it answers. */
  readonly message: SendInput;
  /**
   * Names the child among the children of its run, in 1 to 256 bytes. After a restart the same call joins the child.
   *
   * @default the name of the app with the number of the call
   */
  readonly id?: string;
  /** Whether the child outlives its parent. @default false */
  readonly detached?: boolean;
  /**
   * Whether the end of a detached child begins a run of the session's app, also after a restart. The message of that run is the text of the
   * child's answer, and its `turn.trigger` names the child. @default false
   */
  readonly wakes?: boolean;
  /** Id of the tool call of this run for which the child works. */
  readonly callId?: string;
  /** Tools that the child's app may have a client answer, as `turn.clientTools`. @default none */
  readonly tools?: readonly ClientTool[];
  /** Parameters of the child's turn. @default none */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Runs the child with this function in place of an app of the gateway. The name of the app then only says what it is called. */
  readonly run?: Application['run'];
}

/** The cause of a run that the end of a child began. */
export interface ChildTrigger {
  readonly type: 'child';
  readonly runId: string;
  /** Its id among the children of its parent. */
  readonly id: string;
  readonly app: string;
  readonly stopReason: StopReason;
}

/** The outcome of a child run. */
export interface ChildResult {
  /** The text of its answer. */
  readonly text: string;
  readonly message: Message;
  readonly stopReason: StopReason;
  /** All that the child itself has used. */
  readonly usage?: Usage;
  /** The same with the runs under it; absent if it has none that used anything. */
  readonly totalUsage?: Usage;
}

/** A child run, as the run that spawned it has it. */
export interface Child {
  readonly id: string;
  readonly runId: string;
  readonly app: string;
  /** The events of the child, from its beginning to its `message_end`. Each iteration begins anew. */
  readonly events: AsyncIterable<LoggedEvent>;
  /** The pieces of the text of its answer. Each iteration begins anew. */
  readonly text: AsyncIterable<string>;
  /**
   * Settles once the child's end is stored. Rejects with a `GatewayError` if the child failed (its own code), timed out (`TIMEOUT`), could not
   * begin, or was lost (`ABORTED`). A child that was aborted resolves, with the answer so far.
   */
  readonly result: Promise<ChildResult>;
  /** Sends it a message, which its app gets from `turn.steered()`. @throws GatewayError `RUN_NOT_FOUND` if the child has ended */
  steer(message: SendInput): Promise<void>;
  /** Ends it. Nothing happens if it has ended. @param reason of its abort signal */
  abort(reason?: string): void;
}
