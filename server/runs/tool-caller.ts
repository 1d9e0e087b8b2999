import type { UserContext } from '../../shared/contract.js';
import type { LoggedEventData, LoggedEventType } from '../../shared/events.js';
import type { GivenOutput } from '../../shared/operation-types.js';
import type { ClientTool, ToolSession } from '../apps/application.js';
import type { GuardedPart } from '../apps/guard.js';
import type { ToolSet } from '../apps/tool.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Ballot } from './approvals.js';
import type { Answer } from './questions.js';
import type { Rehearsal } from './rehearsal.js';
import type { Resumption } from './resumption.js';

/** The caller of a tool: a run, or a call outside of runs. Tools have no effect after it is over. */
export interface ToolCaller {
  readonly gatewayId: string;
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Settles when the end of the run is stored, or the call is over. */
  readonly over: Promise<unknown>;
  readonly user: UserContext | null;
  readonly session: ToolSession;
  readonly tools: ToolSet;
  /** Tools that the sender brought along. The app's own tools take precedence. */
  readonly clientTools: readonly ClientTool[];
  /** Outputs that are given in place of calls. */
  readonly toolOutputs?: readonly GivenOutput[] | undefined;
  /** Set for a rehearsal, in which no tool is called. */
  readonly rehearsal?: Rehearsal | undefined;
  /** The calls and open questions of a former process in this run. */
  readonly resumption: Resumption | null;
  /** Checks a value before something is done with it. @throws RunOver if the run ends by it */
  checked<Value>(kind: GuardedPart, name: string, value: Value): MaybePromise<Value>;
  /** Logs an event. */
  append<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): void;
  /** Logs an event and waits until the store has it. @throws GatewayError `ALREADY_ANSWERED` once the caller is over */
  commit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): Promise<void>;
  /** Logs a vote. Null if more votes are needed. @throws GatewayError `ALREADY_ANSWERED`, `GUARD_DENIED` */
  vote(ballot: Omit<Ballot, 'sender'>): Promise<Answer | null>;
  /** The time by the store's clock, in milliseconds since the epoch. */
  now(): number;
  /** Opens a question, tells the clients, and resolves with the accepted answer or another decision. Never resolves once the caller is over. */
  ask(
    asked: Asked,
    announce: () => void,
    accept: (answer: Answer) => Promise<Answer | null>,
  ): Promise<Answer>;
  progress(data: LoggedEventData['tool_progress']): void;
  /**
   * Counts code of the app at work, which is no waiting, until the returned function is called.
   *
   * @throws DOMException `AbortError` once the run has ended
   */
  work(): () => void;
  /** Logs an error of the app's code for its operators. */
  report(error: unknown, what: string): void;
}

/** A question to a person. */
export interface Asked {
  readonly callId: string;
  /** Absent for a plain question and for a call of a client's tool. */
  readonly confirmation?: Confirmation;
}

export type Confirmation = LoggedEventData['tool_confirmation_required'];
