import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../shared/errors.js';
import type { PendingQuestion } from '../../shared/fold.js';
import type { Message, ToolUseBlock } from '../../shared/messages.js';
import type { StepRecord } from '../stores/stored.js';
import type { Answer, OpenQuestion } from './questions.js';

/** The calls and open questions of a run whose process ended. When the app runs again and asks the same, it gets the open question. */
export class Resumption {
  readonly steps: readonly StepRecord[];
  readonly #answer: Message;
  #pending: readonly PendingQuestion[];
  /** Calls that have neither a result nor an open question. */
  readonly #unanswered: Set<ToolUseBlock>;

  constructor(answer: Message, pending: readonly PendingQuestion[], steps: readonly StepRecord[]) {
    this.steps = steps;
    this.#answer = answer;
    this.#pending = pending;
    const over = new Set(pending.map(({ callId }) => callId));
    for (const block of answer.content) if (block.type === 'tool_result') over.add(block.callId);
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    this.#unanswered = new Set(
      calls.filter(({ callId, providerExecuted }) => !providerExecuted && !over.has(callId)),
    );
  }

  /** Takes the open question of a tool call with this input. Each is taken once. */
  takeCall(name: string, input: unknown): PendingQuestion | null {
    return this.#take((question) =>
      this.#answer.content.some(
        (block) =>
          block.type === 'tool_use' &&
          block.callId === question.callId &&
          block.name === name &&
          same(block.input, input),
      ),
    );
  }

  /** Takes the id of a logged call of this tool with this input that has no result. Each is taken once. */
  takeUnanswered(name: string, input: unknown): string | null {
    const found = [...this.#unanswered].find((call) => call.name === name && same(call.input, input));
    if (found) this.#unanswered.delete(found);
    return found?.callId ?? null;
  }

  /** Takes the open question of `turn.ask`. Each is taken once. */
  takeQuestion(name: string, payload: unknown): PendingQuestion | null {
    const isCall = (callId: string): boolean =>
      this.#answer.content.some((block) => block.type === 'tool_use' && block.callId === callId);
    return this.#take(
      (question) => question.name === name && same(question.input, payload) && !isCall(question.callId),
    );
  }

  /** Takes the open confirmation of `turn.confirm`. Each is taken once. */
  takeConfirmation(name: string, input: unknown): PendingQuestion | null {
    return this.#take(
      (question) => question.kind === 'confirmation' && question.name === name && same(question.input, input),
    );
  }

  #take(matches: (question: PendingQuestion) => boolean): PendingQuestion | null {
    const found = this.#pending.find(matches) ?? null;
    this.#pending = this.#pending.filter((question) => question !== found);
    return found;
  }
}

/** Compares values as JSON, because the former process stored them so. */
function same(kept: unknown, value: unknown): boolean {
  return isDeepStrictEqual(kept, value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
}

/** An open question of a former process. An early answer waits until the app has asked again. */
export class InheritedQuestion implements OpenQuestion {
  readonly callId: string;
  readonly runId: string;
  readonly voted: boolean;
  readonly #asked: Promise<OpenQuestion>;
  #resolve!: (question: OpenQuestion) => void;
  #reject!: (error: GatewayError) => void;

  constructor(runId: string, { callId, policy }: PendingQuestion) {
    this.callId = callId;
    this.voted = policy !== undefined;
    this.runId = runId;
    this.#asked = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#asked.catch(() => {});
  }

  async accept(answer: Answer): Promise<boolean> {
    return (await this.#asked).accept(answer);
  }

  decide(): boolean {
    this.#reject(new GatewayError({ code: 'ALREADY_ANSWERED' }));
    return false;
  }

  askedAgain(question: OpenQuestion): void {
    this.#resolve(question);
  }

  drop(): void {
    this.#reject(new GatewayError({ code: 'CALL_NOT_FOUND' }));
  }
}
