import { GatewayError } from '../../shared/errors.js';
import type { PendingQuestion } from '../../shared/fold.js';
import type { Message, ToolResultBlock, ToolUseBlock, Usage } from '../../shared/messages.js';
import type { StepRecord } from '../stores/stored.js';
import { type FormerRetraction, same } from './former-answer.js';
import { type KeptPlace, placeIn } from './place.js';
import type { Answer, OpenQuestion } from './questions.js';

/** A question of a former process that a person has answered. */
export interface FormerQuestion extends Pick<PendingQuestion, 'callId' | 'kind' | 'name' | 'input'> {
  /** The event that has the answer. */
  readonly answer: Partial<Answer>;
}

/** A use that a former process has logged. */
export interface FormerUse {
  readonly id?: string;
  readonly usage: Usage;
}

/** The events of a run, as its app may ask for them again. */
export interface FormerEvents {
  readonly answered: readonly FormerQuestion[];
  readonly used?: readonly FormerUse[];
  readonly taken?: readonly FormerRetraction[];
}

/** A call of a former process that has its result. */
export interface FormerResult extends Pick<ToolResultBlock, 'callId' | 'output' | 'isError'> {
  /** Whether a person has denied it. */
  readonly denied: boolean;
}

/**
 * The calls and questions of a run whose process ended. When the app runs again, the same call gets its former result, the same question its former
 * answer, and one that is open stays open.
 */
export class Resumption {
  readonly steps: readonly StepRecord[];
  /** All blocks of the answer, also those that were taken back. */
  #content: Message['content'];
  #pending: readonly PendingQuestion[];
  /** Calls that have neither a result nor an open question. */
  readonly #unanswered: Set<ToolUseBlock>;
  /** Calls that have a result, by their ids. */
  readonly #results = new Map<string, ToolResultBlock>();
  #answered: readonly FormerQuestion[] = [];
  #used: FormerUse[] = [];
  /** The place from which the app goes on, if it has kept one. It makes none of the calls before it again. */
  readonly place: KeptPlace | null;
  /** The parts of the answer that the former process took back, in its order. */
  taken: readonly FormerRetraction[] = [];
  /** Called with each call that the app makes again. */
  passed: (callId: string) => void = () => {};

  constructor(
    answer: Message,
    pending: readonly PendingQuestion[],
    { steps, goesOn }: { readonly steps: readonly StepRecord[]; readonly goesOn: boolean },
  ) {
    this.steps = steps;
    this.place = placeIn(steps);
    const since = this.place?.blocks ?? (goesOn ? answer.content.length : 0);
    this.#content = answer.content;
    this.#pending = pending;
    const over = new Set(pending.map(({ callId }) => callId));
    for (const [at, block] of answer.content.entries()) {
      if (block.type !== 'tool_result') continue;
      over.add(block.callId);
      if (at >= since) this.#results.set(block.callId, block);
    }
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    this.#unanswered = new Set(
      calls.filter(({ callId, providerExecuted }) => !providerExecuted && !over.has(callId)),
    );
  }

  get answered(): readonly FormerQuestion[] {
    return this.#answered;
  }

  /** Tells what people have answered, and what the run has used. */
  learn({ answered, used = [], taken = [] }: FormerEvents): void {
    this.#answered = answered;
    this.#used = [...used];
    this.taken = taken;
    const gone = taken.flatMap(({ before }) => before);
    for (const block of gone) if (block.type === 'tool_result') this.#results.set(block.callId, block);
    this.#content = [...gone, ...this.#content];
  }

  /** Takes a use that is counted already. Each is taken once. @param isNamed Whether the app has named it, whatever it used */
  takeUse({ id, usage }: FormerUse, isNamed: boolean): boolean {
    const at = this.#used.findIndex((use) => use.id === id && (isNamed || same(use.usage, usage)));
    if (at >= 0) this.#used.splice(at, 1);
    return at >= 0;
  }

  /** Forgets the calls and answers that are part of the outcome of a step. */
  forget(callIds: readonly string[]): void {
    for (const callId of callIds) {
      this.#results.delete(callId);
      this.passed(callId);
    }
    this.#answered = this.#answered.filter(({ callId }) => !callIds.includes(callId));
  }

  /** Takes the result of a tool call with this input. Each is taken once. */
  takeResult(name: string, input: unknown): FormerResult | null {
    for (const block of this.#content) {
      if (block.type !== 'tool_use' || block.name !== name) continue;
      const result = this.#results.get(block.callId);
      if (!result || !same(block.input, input)) continue;
      this.forget([block.callId]);
      return { ...result, denied: block.denied === true };
    }
    return null;
  }

  /** Takes the answer to the question of a call. */
  takeDecision(callId: string): Partial<Answer> | null {
    const found = this.#answered.find((question) => question.callId === callId);
    if (found) this.forget([callId]);
    return found?.answer ?? null;
  }

  /** Takes the answer to a question that is no tool's. Each is taken once. */
  takeAnswer(kind: FormerQuestion['kind'], name: string, input: unknown): Partial<Answer> | null {
    const found = this.#answered.find(
      (question) => question.kind === kind && question.name === name && same(question.input, input),
    );
    return found ? this.takeDecision(found.callId) : null;
  }

  /** Takes the open question of a tool call with this input. Each is taken once. */
  takeCall(name: string, input: unknown): PendingQuestion | null {
    const taken = this.#take((question) =>
      this.#content.some(
        (block) =>
          block.type === 'tool_use' &&
          block.callId === question.callId &&
          block.name === name &&
          same(block.input, input),
      ),
    );
    if (taken) this.passed(taken.callId);
    return taken;
  }

  /** Takes the id of a logged call of this tool with this input that has no result. Each is taken once. */
  takeUnanswered(name: string, input: unknown): string | null {
    const found = [...this.#unanswered].find((call) => call.name === name && same(call.input, input));
    if (!found) return null;
    this.#unanswered.delete(found);
    this.passed(found.callId);
    return found.callId;
  }

  /** Takes the open question of `turn.ask`. Each is taken once. */
  takeQuestion(name: string, payload: unknown): PendingQuestion | null {
    const isCall = (callId: string): boolean =>
      this.#content.some((block) => block.type === 'tool_use' && block.callId === callId);
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

  refuse(error: GatewayError): void {
    this.#reject(error);
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
