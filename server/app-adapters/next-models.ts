import { isGatewayError } from '../../shared/errors.js';
import type { AnswerMark } from '../apps/answer-mark.js';
import type { Turn } from '../apps/application.js';

/** The models that are asked in turn where one fails or breaks off. Each begins with a clean answer. */
export class NextModels<M> {
  readonly #turn: Turn;
  readonly #left: M[];
  #mark: AnswerMark | undefined;

  constructor(turn: Turn, others: readonly M[] = []) {
    this.#turn = turn;
    this.#left = [...others];
  }

  /** Notes that an answer begins here. */
  begin(): void {
    if (this.#left.length > 0) this.#mark = this.#turn.mark();
  }

  /**
   * The model that comes after one that has failed.
   *
   * @throws the error of that one, if it was the last, the run is over, or a limit of the gateway stopped it
   */
  after(error: unknown): M {
    const refused = isGatewayError(error) && error.code !== 'UPSTREAM_FAILED';
    if (refused || this.#left.length === 0 || this.#turn.signal.aborted) throw error;
    return this.#left.shift() as M;
  }

  /** Takes back what was said since the answer began. */
  takeBack(): void {
    if (this.#mark) this.#turn.retract(this.#mark);
  }
}
