import type { UserContext } from '../../shared/contract.js';
import type { LoggedEventData, LoggedEventType } from '../../shared/events.js';
import type { ClientTool, ToolSession } from '../apps/application.js';
import type { ToolSet } from '../apps/tool.js';
import type { Answer } from './questions.js';
import type { Resumption } from './resumption.js';

/** What the parts of a running turn need of their run. After the run has ended nothing of it has an effect. */
export interface RunContext {
  readonly gatewayId: string;
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Settles when the end of the run is stored, or its call is over. */
  readonly over: Promise<unknown>;
  readonly user: UserContext | null;
  readonly session: ToolSession;
  readonly tools: ToolSet;
  /** Tools that the caller brought along; the app's own go first. */
  readonly clientTools: readonly ClientTool[];
  /** What a former process had asked in this run. */
  readonly resumption: Resumption | null;
  /** Logs an event of this run. */
  emit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): void;
  /** The same, and waits until the store has it. */
  commit<T extends LoggedEventType>(type: T, data: LoggedEventData[T]): Promise<void>;
  /** Opens a question, tells the clients, and resolves with the accepted answer. Never resolves once the run has ended. */
  ask(callId: string, announce: () => void, accept: (answer: Answer) => Promise<Answer>): Promise<Answer>;
  progress(data: LoggedEventData['tool_progress']): void;
  /** Logs an error of the app's code for its operators. */
  report(error: unknown, what: string): void;
}
