import type { Vote } from '../../shared/approvals.js';
import { GatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** What a person answered to a confirmation, a question or a client tool's call. */
export interface Answer {
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly input?: unknown;
  /** Of the input that the person has seen. */
  readonly inputHash?: string | undefined;
  readonly output?: unknown;
  /** Id of the user who answered. */
  readonly by: string;
  readonly roles?: readonly string[] | undefined;
  /** Of a question with a policy that is decided. */
  readonly votes?: readonly Vote[];
  /** Nobody has decided it in time. */
  readonly expired?: true;
}

/** An open question. */
export interface OpenQuestion {
  readonly callId: string;
  readonly runId: string;
  /** Whether several people answer it, at the same time too: the log says when it is decided. */
  readonly voted?: boolean;
  /**
   * Checks the answer, logs it and hands it to the app. False where more of them are needed.
   *
   * @throws GatewayError to refuse it; the question stays open
   */
  accept(answer: Answer): MaybePromise<boolean>;
  /** It was decided without an answer from here. False where the app has to ask again to be told. */
  decide?(answer: Answer): boolean;
  /** The run ended without an answer. */
  drop(): void;
  /** The same question was put again, by the app of a run that is gone on with. */
  askedAgain?(question: OpenQuestion): void;
}

const REMEMBERED = 1000;

/** The open confirmations and questions of a session. One answer counts. */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();
  // Most sessions never ask.
  #settled: Set<string> | null = null;
  #answering: Set<string> | null = null;
  /** What was decided before the app of a run that is gone on with has asked again. */
  readonly #early = new Map<string, { readonly runId: string; readonly answer: Answer }>();

  get size(): number {
    return this.#open.size;
  }

  /** Whether it waits for an answer. */
  has(callId: string): boolean {
    return this.#open.has(callId);
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
    // Call ids come again: many models count them from 0 in each answer.
    this.#settled?.delete(question.callId);
  }

  /** @throws GatewayError `CALL_NOT_FOUND`, `ALREADY_ANSWERED`, or why the answer was refused. */
  async answer(callId: string, answer: Answer): Promise<void> {
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

  /** The log says what was decided. */
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
