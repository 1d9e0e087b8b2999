import type { GatewayEvent } from './events.js';
import type { SessionState } from './fold.js';
import { type AskingEvent, type Piece, Segmenter } from './segments.js';
import type { Subagent } from './subagents.js';

/** An answer to a question from a client of another protocol. */
export type CallAnswer =
  | {
      readonly kind: 'confirmation';
      readonly approved: boolean;
      readonly reason?: string;
      /** The input to make the call with, in place of the proposed one. */
      readonly input?: unknown;
    }
  | { readonly kind: 'output'; readonly output: unknown }
  | { readonly kind: 'failure'; readonly reason: string };

/** A question of a run. One call may cause two: whether it may be made, and its result. */
export interface AskedCall {
  readonly callId: string;
  readonly kind: 'confirmation' | 'input';
}

/** Whether an answer fits this kind of question. */
export function answersCall(answer: CallAnswer | undefined, { kind }: AskedCall): answer is CallAnswer {
  return answer !== undefined && (answer.kind === 'confirmation') === (kind === 'confirmation');
}

/** The params of `tool-response` for an answer. */
export function toResponse(answer: CallAnswer): {
  readonly approved?: boolean;
  readonly reason?: string;
  readonly input?: unknown;
  readonly output?: unknown;
} {
  if (answer.kind === 'output') return { output: answer.output };
  if (answer.kind === 'failure') return { approved: false, reason: answer.reason };
  const { approved, reason, input } = answer;
  return { approved, ...(reason !== undefined && { reason }), ...(input !== undefined && { input }) };
}

/** Whether the conversation goes on only behind a run: the active one, or a child that it waits for. */
export function isAwaited(state: Pick<SessionState, 'run' | 'lanes'>, runId: string | undefined): boolean {
  if (runId === undefined) return false;
  if (runId === state.run?.runId) return true;
  const lane = state.lanes?.find((each) => each.runId === runId);
  return lane !== undefined && !lane.detached && isAwaited(state, lane.parentRunId);
}

/** The reason of a denial by somebody who wrote on instead of answering. */
export const WENT_ON = 'The conversation went on';

/** The questions of a run so far. Feed it each event once, in order. */
export class AskedCalls {
  readonly #segmenter: Segmenter;
  readonly #asks: (event: AskingEvent) => boolean;
  readonly #batches: (readonly AskedCall[])[] = [];
  /** The run that asked, by question. */
  readonly #open = new Map<string, string | undefined>();
  readonly #answered = new Set<string>();
  #batch: AskedCall[] = [];

  /** @param asks Whether a question is meant for this client. @default all */
  constructor(
    readonly runId: string,
    asks: (event: AskingEvent) => boolean = () => true,
  ) {
    this.#asks = asks;
    this.#segmenter = new Segmenter(runId, { through: false, asks });
  }

  /** Whether `head` must be called if no event follows the last one. */
  get asking(): boolean {
    return this.#segmenter.asking;
  }

  take(event: GatewayEvent): void {
    this.#note(this.#segmenter.take(event));
  }

  /** Notes that no event follows the last one yet. */
  head(): void {
    this.#note(this.#segmenter.head());
  }

  #note(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.type === 'event') this.#event(piece.event);
      else if (piece.type === 'subagent') this.#child(piece.subagent);
      else {
        this.#batches.push(this.#batch);
        this.#batch = [];
      }
    }
  }

  #event(event: GatewayEvent): void {
    if (event.type === 'tool_confirmation_required') this.#ask(event, 'confirmation');
    else if (event.type === 'input_required') this.#ask(event, 'input');
    else if (event.type === 'tool_confirmation_result')
      this.#answer({ callId: event.callId, kind: 'confirmation' });
    else if (event.type === 'input_result') this.#answer({ callId: event.callId, kind: 'input' });
    else if (event.type === 'message_end') this.#open.clear();
  }

  /** The end of a child run settles its questions. */
  #child({ runId, state }: Subagent): void {
    if (state !== 'ended') return;
    for (const [name, by] of this.#open) if (by === runId) this.#open.delete(name);
  }

  #ask(event: AskingEvent, kind: AskedCall['kind']): void {
    if (!this.#asks(event)) return;
    const call = { callId: event.callId, kind };
    this.#batch.push(call);
    this.#open.set(nameOf(call), event.runId);
  }

  #answer(call: AskedCall): void {
    this.#open.delete(nameOf(call));
    this.#answered.add(nameOf(call));
  }

  /** The questions so far, grouped as they were asked together. The answer pauses after each group. */
  get batches(): readonly (readonly AskedCall[])[] {
    return this.#batches;
  }

  /** The questions that nobody has answered. */
  get open(): readonly AskedCall[] {
    return this.#batches.flat().filter((call) => this.#open.has(nameOf(call)));
  }

  /**
   * The place where answers continue. `index` names the segment after the last answered questions, `due` lists the answers to hand over, and
   * `missing` the other open questions. `lapsed`: nobody has answered, and nobody can.
   */
  continuation(answers: ReadonlyMap<string, CallAnswer>): {
    readonly index: number;
    readonly due: readonly AskedCall[];
    readonly missing: readonly AskedCall[];
    readonly lapsed: boolean;
  } {
    const isAnswer = (call: AskedCall): boolean => answersCall(answers.get(call.callId), call);
    const isOpen = (call: AskedCall): boolean => this.#open.has(nameOf(call));
    const at = this.#batches.findLastIndex((batch) => batch.some(isAnswer));
    const due = this.#batches.flat().filter((call) => isAnswer(call) && isOpen(call));
    const last = this.#batches[at] ?? [];
    const missing = last.filter((call) => !isAnswer(call) && isOpen(call));
    const lapsed = last.some((call) => isAnswer(call) && !isOpen(call) && !this.#answered.has(nameOf(call)));
    return { index: at + 1, due, missing, lapsed };
  }
}

function nameOf({ kind, callId }: AskedCall): string {
  return `${kind} ${callId}`;
}
