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
import type { Confirmation } from '../runs/tool-call.js';
import type { SessionRef } from '../stores/store.js';
import type { SessionEnvironment } from './environment.js';
import { LoneCall } from './lone-call.js';
import type { Session } from './session.js';

/** Hears the progress of a tool. */
export type ToolProgressListener = (progress: LoggedEventData['tool_progress']) => void;

/**
 * Hears of a confirmation that a call waits for, and has somebody asked, who answers with the operation `tool-response`. When it
 * throws, those who follow the session are asked alone; where nobody does, the call fails.
 *
 * @param open Aborted when the question has been answered or taken back.
 */
export type ConfirmationListener = (question: Confirmation, open: AbortSignal) => MaybePromise<void>;

/** A tool call that belongs to no run. */
export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
  readonly user: UserContext;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** Time for the tool, without the time it waits for a person. */
  readonly timeoutMs: number;
  readonly progress?: ToolProgressListener;
  readonly asked?: ConfirmationListener;
}

/** What a call asks a person, of whom holds its session. */
export interface LoneQuestion {
  readonly callId: string;
  readonly name: string;
  /** The gateway where the call runs. */
  readonly asker: string;
  /** How it is logged. */
  readonly event: EventDraft;
  readonly userId: string;
  /** Somebody is asked elsewhere too: nobody need follow the session. */
  readonly elsewhere: boolean;
  /** A session that is not there is begun for it. */
  readonly begins: boolean;
}

/** A call that runs at another gateway was answered. */
export const ANSWERED = errand<
  {
    readonly ref: SessionRef;
    readonly callId: string;
    readonly answer: Answer;
    readonly isDecided?: boolean;
  },
  boolean
>('answered');

/** The tool calls of a session that belong to no run: another protocol's client calls its tools itself. They run where they came in. */
export class SessionCalls {
  readonly #session: Session;
  readonly #env: SessionEnvironment;
  readonly #open = new Set<LoneCall>();
  /** What calls of other gateways have asked of this one, with what looks whether those live. */
  readonly #asked = new Map<string, NodeJS.Timeout | undefined>();

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** Calls that run here. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether something is asked here, or runs here. */
  get busy(): boolean {
    return this.#open.size > 0 || this.#asked.size > 0;
  }

  /** Calls a tool. A failure of the tool is its result; never rejects. */
  async call(request: CallRequest): Promise<ToolOutput> {
    const call = new LoneCall(this.#session, this.#env, request);
    this.#open.add(call);
    try {
      return await call.result;
    } finally {
      this.#open.delete(call);
    }
  }

  /** Resolves when the calls that are under way have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#open].map((call) => call.result));
  }

  endAll(reason: string): void {
    for (const call of this.#open) call.stop(reason);
    // Those who asked from elsewhere find out, as whoever holds the session next takes it back.
    for (const callId of [...this.#asked.keys()]) this.#session.runs.questions.dropRun(callId);
  }

  /** Withdraws what a former process had asked for calls that ended with it. */
  recover(log: LogWriter): void {
    for (const { runId, callId, name, kind } of log.state.pending)
      if (runId === undefined) log.append(withdrawal(kind, { callId, name, by: 'gateway' }));
  }

  /**
   * Asks what a call has to know of a person, in the session that is held here.
   *
   * @returns Who holds it; null where nobody would see the question
   */
  async ask(question: LoneQuestion): Promise<string | null> {
    const { callId, asker, event, elsewhere } = question;
    if (!elsewhere && !(await this.#session.viewers.watchedAnywhere())) return null;
    const { writer } = this.#session;
    if (!writer) throw new GatewayError({ code: 'OVERLOADED', retryAfterMs: 1000 });
    // First, because it may be refused: what nobody was asked must not wait for an answer.
    const isConfirmation = event.type === 'tool_confirmation_required';
    const due = isConfirmation && dueRecord(event);
    // Where it is not stored, the session has no log any more.
    if (due) writer.commit([event], { records: [due] }).catch(() => {});
    else writer.append(event);
    const isHere = asker === this.#env.holder;
    if (!isHere) this.#attend(question);
    this.#session.runs.questions.add({
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
        // Where it does not hear of that, it finds its question taken back.
        else void this.#tell(question, { answer, isDecided: true }).catch(() => {});
        return true;
      },
      drop: () => this.#forget(callId),
    });
    return this.#env.holder;
  }

  /** Takes a question back where the gateway has gone whose call asked it. */
  #attend({ callId, name, asker, event }: LoneQuestion): void {
    const { cluster } = this.#env;
    const look = async (): Promise<void> => {
      if (await cluster.alive(asker)) return;
      this.withdraw({ callId, name, kind: kindOf(event), by: 'gateway' });
    };
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

  /** Tells a call that runs here what was decided without an answer. */
  decided(callId: string, answer: Answer): void {
    for (const call of this.#open) if (call.id === callId) call.decided(answer);
  }

  /** Hands an answer to a call that runs here; false where more of them are needed. @throws GatewayError `CALL_NOT_FOUND`, or why it was refused */
  async answered(callId: string, answer: Answer): Promise<boolean> {
    for (const call of this.#open) if (call.id === callId) return call.answered(answer);
    throw new GatewayError({ code: 'CALL_NOT_FOUND' });
  }

  /** Who sees the question of a call; null where it is not open. */
  asks(callId: string): MaybePromise<{ readonly watched: boolean } | null> {
    if (!this.#isOpen(callId)) return null;
    return andThen(this.#session.viewers.watchedAnywhere(), (watched) => ({ watched }));
  }

  #isOpen(callId: string): boolean {
    return this.#session.runs.questions.has(callId);
  }

  /** Logs what was answered to a call. @throws GatewayError `ALREADY_ANSWERED` where it does not ask any more */
  async record(callId: string, event: EventDraft): Promise<void> {
    const { writer } = this.#session;
    if (!writer || !this.#isOpen(callId)) throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    await writer.commit([event], { refusable: true });
  }

  /** Takes a question back that nobody is to answer any more. */
  withdraw({ callId, ...asked }: Withdrawn): void {
    if (!this.#isOpen(callId)) return;
    this.#session.runs.questions.dropRun(callId);
    this.#session.writer?.append(withdrawal(asked.kind, { callId, ...asked }));
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
