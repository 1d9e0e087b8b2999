import { GatewayError } from '../../shared/errors.js';
import type { MaybePromise } from '../async/maybe-promise.js';

/** What a person answered to a confirmation, a question or a client tool's call. */
export interface Answer {
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  /** Id of the user who answered. */
  readonly by: string;
}

/** An open question. */
export interface OpenQuestion {
  readonly callId: string;
  readonly runId: string;
  /** Checks the answer, logs it and hands it to the app. @throws GatewayError to refuse it; the question stays open. */
  accept(answer: Answer): MaybePromise<void>;
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

  get size(): number {
    return this.#open.size;
  }

  /** Whether it waits for an answer. */
  has(callId: string): boolean {
    return this.#open.has(callId);
  }

  add(question: OpenQuestion): void {
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
    this.#answering ??= new Set();
    this.#answering.add(callId);
    try {
      await question.accept(answer);
      this.#settle(callId);
    } finally {
      this.#answering.delete(callId);
    }
  }

  dropRun(runId: string): void {
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
