import type { Vote } from '../../shared/approvals.js';
import { GatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** A person's answer to a confirmation, a question or a client tool's call. */
export interface Answer {
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly input?: unknown;
  /** Hash of the input that the person saw. */
  readonly inputHash?: string | undefined;
  readonly output?: unknown;
  /** Id of the user who answered. */
  readonly by: string;
  /** Id of the person who gave the link by which a guest answers; absent for a user. */
  readonly givenBy?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** The votes, if the question has a policy and is decided. */
  readonly votes?: readonly Vote[];
  /** Set if nobody decided the question in time. */
  readonly expired?: true;
}

/** An open question. */
export interface OpenQuestion {
  readonly callId: string;
  readonly runId: string;
  /** Whether several people answer it, perhaps at the same time. The log tells when the question is decided. */
  readonly voted?: boolean;
  /**
   * Checks the answer, logs it and hands it to the app. False if more answers are needed.
   *
   * @throws GatewayError to refuse the answer; the question stays open
   */
  accept(answer: Answer): MaybePromise<boolean>;
  /** Takes a decision that was not made by an answer from here. False if the app has to ask again to receive it. */
  decide?(answer: Answer): boolean;
  /** Called when the run ended without an answer. */
  drop(): void;
  /** Called when the app of a resumed run will not ask it again here. */
  refuse?(error: GatewayError): void;
  /** Called when the app of a resumed run asks the same question again. */
  askedAgain?(question: OpenQuestion): void;
}

const REMEMBERED = 1000;

function left(): GatewayError {
  const message = 'The session is on its way to its next holder; try again';
  return new GatewayError({ code: 'OVERLOADED', message, retryAfterMs: 100 });
}

/** The open confirmations and questions of a session. Each takes one answer. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();
  // Made on first use: most sessions never ask.
  #settled: Set<string> | null = null;
  #answering: Set<string> | null = null;
  #isLeft = false;
  /** Decisions that came before the app of a resumed run has asked again. */
  readonly #early = new Map<string, { readonly runId: string; readonly answer: Answer }>();

  get size(): number {
    return this.#open.size;
  }

  /** The number of open questions of a run. */
  ofRun(runId: string): number {
    let count = 0;
    for (const question of this.#open.values()) if (question.runId === runId) count += 1;
    return count;
  }

  /** Whether a question is open. */
  has(callId: string): boolean {
    return this.#open.has(callId);
  }

  /** Whether another run than this one has an open question of this id. */
  isOfOther(callId: string, runId: string): boolean {
    const question = this.#open.get(callId);
    return question !== undefined && question.runId !== runId;
  }

  add(question: OpenQuestion): void {
    const early = this.#early.get(question.callId);
    if (early?.runId === question.runId) {
      this.#early.delete(question.callId);
      question.decide?.(early.answer);
      return;
    }
    this.#open.get(question.callId)?.askedAgain?.(question);
    this.#open.set(question.callId, question);
    // Call ids are reused: many models count them from 0 in each answer.
    this.#settled?.delete(question.callId);
  }

  /** The session is on its way to its next holder, which has the questions that are open still. An answer that comes here, or came early, is told to come again. */
  leave(): void {
    this.#isLeft = true;
    for (const question of this.#open.values()) question.refuse?.(left());
  }

  /** @throws GatewayError `CALL_NOT_FOUND`, `ALREADY_ANSWERED`, `OVERLOADED` if it was left, or the reason why the answer is refused */
  async answer(callId: string, answer: Answer): Promise<void> {
    if (this.#isLeft) throw left();
    const question = this.#open.get(callId);
    if (this.#settled?.has(callId) || this.#answering?.has(callId))
      throw new GatewayError({ code: 'ALREADY_ANSWERED' });
    if (!question) throw new GatewayError({ code: 'CALL_NOT_FOUND' });
    if (question.voted) {
      if (await question.accept(answer)) this.#settle(callId);
      return;
    }
    this.#answering ??= new Set();
    this.#answering.add(callId);
    try {
      await question.accept(answer);
      this.#settle(callId);
    } finally {
      this.#answering.delete(callId);
    }
  }

  /** Takes a decision that the log has. */
  decide(callId: string, answer: Answer): void {
    const question = this.#open.get(callId);
    if (!question) return;
    this.#settle(callId);
    if (!question.decide?.(answer)) this.#early.set(callId, { runId: question.runId, answer });
  }

  dropRun(runId: string): void {
    for (const [callId, early] of this.#early) if (early.runId === runId) this.#early.delete(callId);
    for (const question of this.#open.values()) {
      if (question.runId !== runId) continue;
      this.#settle(question.callId);
      question.drop();
    }
  }

  /** Has answers to the questions of a run refused, which stay open. */
  refuse(runId: string, error: GatewayError): void {
    for (const question of this.#open.values()) if (question.runId === runId) question.refuse?.(error);
  }

  /** Drops all questions, because the session is no longer held here. Their gateways learn of it from the next holder. */
  dropAll(): void {
    for (const question of [...this.#open.values()]) {
      this.#settle(question.callId);
      question.drop();
    }
  }

  #settle(callId: string): void {
    this.#open.delete(callId);
    this.#settled ??= new Set();
    this.#settled.add(callId);
    if (this.#settled.size > REMEMBERED) {
      const [oldest] = this.#settled;
      this.#settled.delete(oldest!);
    }
  }
}
