import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { EventDraft, LoggedEventData } from '../../shared/events.js';
import type { ToolOutput } from '../apps/tool.js';
import { every } from '../async/deadline.js';
import { andThen, type MaybePromise } from '../async/maybe-promise.js';
import { errand } from '../cluster/errands.js';
import type { LogWriter } from '../log/log-writer.js';
import { dueRecord } from '../runs/approvals.js';
import type { Answer } from '../runs/questions.js';
import type { Confirmation } from '../runs/tool-caller.js';
import type { SessionRef } from '../stores/stored.js';
import type { SessionEnvironment } from './environment.js';
import { LoneCall } from './lone-call.js';
import type { Session } from './session.js';

/** Receives the progress of a tool. */
export type ToolProgressListener = (progress: LoggedEventData['tool_progress']) => void;

/**
 * Receives a confirmation that a call waits for and asks somebody, who answers with the operation `tool-response`. If the listener throws,
 * only the followers of the session are asked; without followers, the call fails.
 *
 * @param open Aborted when the question is answered or taken back.
 */
export type ConfirmationListener = (question: Confirmation, open: AbortSignal) => MaybePromise<void>;

/** A tool call that belongs to no run. */
export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
  readonly user: UserContext;
  /** Id of the person who gave the link by which a guest calls; absent for a user. */
  readonly givenBy?: string | undefined;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Time limit of the tool in milliseconds, without the time it waits for a person. */
  readonly timeoutMs: number;
  readonly progress?: ToolProgressListener;
  readonly asked?: ConfirmationListener;
}

/** A question of a call to people, as the holder of the session asks it. */
export interface LoneQuestion {
  readonly callId: string;
  readonly name: string;
  /** The gateway that runs the call. */
  readonly asker: string;
  /** The event that asks the question. */
  readonly event: EventDraft;
  readonly userId: string;
  /** Somebody is asked elsewhere too, so the session needs no followers. */
  readonly elsewhere: boolean;
  /** Whether the question begins a session that does not exist. */
  readonly begins: boolean;
}

/** Tells the gateway of a call that its question was answered. */
export const ANSWERED = errand<
  {
    readonly ref: SessionRef;
    readonly callId: string;
    readonly answer: Answer;
    readonly isDecided?: boolean;
  },
  boolean
>('answered');

/** The tool calls of a session outside of runs, which clients of other protocols make. A call runs at the gateway that received it. */
export class SessionCalls {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #open = new Set<LoneCall>();
  /** Questions asked here for calls of other gateways, each with the timer that checks whether its gateway lives. */
  readonly #asked = new Map<string, NodeJS.Timeout | undefined>();

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** Calls that run here. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether a call runs here or has a question open here. */
  get busy(): boolean {
    return this.#open.size > 0 || this.#asked.size > 0;
  }

  /** Calls a tool. A failure of the tool is its result; never rejects. */
  async call(request: CallRequest): Promise<ToolOutput> {
    const call = new LoneCall(this.#session, this.#env, request);
    this.#open.add(call);
    this.#env.atWork.begins(this.#session);
    try {
      return await call.result;
    } finally {
      this.#open.delete(call);
    }
  }

  /** Resolves when all calls under way have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#open].map((call) => call.result));
  }

  endAll(reason: string): void {
    for (const call of this.#open) call.stop(reason);
  }

  /** Takes back the questions of calls that ended with a former process. */
  recover(log: LogWriter): void {
    for (const { runId, callId, name, kind } of log.state.pending)
      if (runId === undefined) log.append(withdrawal(kind, { callId, name, by: 'gateway' }));
  }

  /**
   * Asks the question of a call in the session that is held here.
   *
   * @returns The holder that asks it; null if nobody would see the question
   */
  async ask(question: LoneQuestion): Promise<string | null> {
    const { callId, asker, event, elsewhere } = question;
    if (!elsewhere && !(await this.#session.viewers.watchedAnywhere())) return null;
    const { held } = this.#session;
    if (!held) throw new GatewayError({ code: 'OVERLOADED', retryAfterMs: 1000 });
    // Log the question first, because that may be refused: an unasked question must not wait for an answer.
    const isConfirmation = event.type === 'tool_confirmation_required';
    const due = isConfirmation && dueRecord(event);
    // If the store refuses the event, the session has lost its log.
    if (due) held.log.commit([event], { records: [due] }).catch(() => {});
    else held.log.append(event);
    const isHere = asker === this.#env.holder;
    if (!isHere) this.#attend(question);
    held.runs.questions.add({
      callId,
      runId: callId,
      voted: isConfirmation && event.policy !== undefined,
      accept: async (answer) => {
        const isOver = await (isHere
          ? this.answered(callId, answer)
          : this.#answerElsewhere(question, answer));
        if (isOver) this.#forget(callId);
        return isOver;
      },
      decide: (answer) => {
        this.#forget(callId);
        if (isHere) this.decided(callId, answer);
        // If the other gateway misses the message, its next check finds the question closed.
        else void this.#tell(question, { answer, isDecided: true }).catch(() => {});
        return true;
      },
      drop: () => this.#forget(callId),
    });
    return this.#env.holder;
  }

  /** Takes a question back once the gateway that runs its call is gone. */
  #attend({ callId, name, asker, event }: LoneQuestion): void {
    const { cluster } = this.#env;
    const look = async (): Promise<void> => {
      if (await cluster.alive(asker)) return;
      this.withdraw({ callId, name, kind: kindOf(event), by: 'gateway' });
    };
    this.#env.atWork.begins(this.#session);
    this.#asked.set(
      callId,
      every(cluster.leaseMs, () => void look()),
    );
  }

  #forget(callId: string): void {
    clearInterval(this.#asked.get(callId));
    this.#asked.delete(callId);
  }

  #tell(
    { callId, asker }: LoneQuestion,
    said: { readonly answer: Answer; readonly isDecided?: boolean },
  ): Promise<boolean | undefined> {
    const { ref } = this.#session;
    return this.#env.cluster.errands.ask(asker, ANSWERED, { ref, callId, ...said });
  }

  async #answerElsewhere(question: LoneQuestion, answer: Answer): Promise<boolean> {
    const isOver = await this.#tell(question, { answer });
    if (isOver !== undefined) return isOver;
    const { callId, name, event } = question;
    this.withdraw({ callId, name, kind: kindOf(event), by: 'gateway' });
    throw new GatewayError({ code: 'CALL_NOT_FOUND' });
  }

  /** Tells a call that runs here of a decision that was made without an answer. */
  decided(callId: string, answer: Answer): void {
    for (const call of this.#open) if (call.id === callId) call.decided(answer);
  }

  /**
   * Passes an answer to a call that runs here. False if more answers are needed. @throws GatewayError `CALL_NOT_FOUND`, or the reason why
   * the answer is refused
   */
  async answered(callId: string, answer: Answer): Promise<boolean> {
    for (const call of this.#open) if (call.id === callId) return call.answered(answer);
    throw new GatewayError({ code: 'CALL_NOT_FOUND' });
  }

  /** Whether anybody sees the question of a call; null if it is not open. */
  asks(callId: string): MaybePromise<{ readonly watched: boolean } | null> {
    if (!this.#isOpen(callId)) return null;
    return andThen(this.#session.viewers.watchedAnywhere(), (watched) => ({ watched }));
  }

  #isOpen(callId: string): boolean {
    return this.#session.held?.runs.questions.has(callId) ?? false;
  }

  /** Logs the answer to a call. @throws GatewayError `ALREADY_ANSWERED` if the question is no longer open */
  async record(callId: string, event: EventDraft): Promise<void> {
    const { held } = this.#session;
    if (!held || !this.#isOpen(callId)) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    await held.log.commit([event], { refusable: true });
  }

  /** Takes back a question that nobody needs to answer any more. */
  withdraw({ callId, ...asked }: Withdrawn): void {
    const { held } = this.#session;
    if (!held || !this.#isOpen(callId)) return;
    held.runs.questions.dropRun(callId);
    held.log.append(withdrawal(asked.kind, { callId, ...asked }));
  }
}

/** A question that is taken back. */
export interface Withdrawn {
  readonly callId: string;
  readonly name: string;
  readonly kind: 'confirmation' | 'input';
  readonly by: string;
}

const kindOf = ({ type }: EventDraft): Withdrawn['kind'] =>
  type === 'input_required' ? 'input' : 'confirmation';

function withdrawal(
  kind: 'confirmation' | 'input',
  { callId, name, by }: { readonly callId: string; readonly name: string; readonly by: string },
): EventDraft {
  const base = { ts: Date.now(), callId, name, by };
  return kind === 'input'
    ? { type: 'input_result', ...base, output: null }
    : { type: 'tool_confirmation_result', ...base, approved: false, reason: 'withdrawn' };
}
