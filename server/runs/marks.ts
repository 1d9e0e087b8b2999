import { fieldError } from '../../shared/errors.js';
import type { AnswerMark } from '../apps/answer-mark.js';
import { type AnswerPlace, placeAt, takenBack } from './answer-place.js';
import type { AnswerWriter } from './answer-writer.js';
import type { RunPort } from './run-port.js';
import type { SpeechGate } from './speech-gate.js';

/** The run of marked answers. */
interface MarkedRun {
  readonly runId: string;
  readonly ended: boolean;
  readonly gate: SpeechGate | null;
  readonly answer: AnswerWriter;
  readonly port: Pick<RunPort, 'log'>;
}

/** The marks that an app has made in the answer of its run. */
export class Marks {
  readonly #run: MarkedRun;
  /** In the order in which they were made. */
  readonly #places = new Map<AnswerMark, AnswerPlace>();

  constructor(run: MarkedRun) {
    this.#run = run;
  }

  make(): AnswerMark {
    const mark: AnswerMark = { runId: this.#run.runId };
    this.#behind(() => this.#places.set(mark, this.#run.answer.place));
    return mark;
  }

  /**
   * Takes back what the answer says behind a mark.
   *
   * @throws GatewayError `INVALID_PARAMS` for a mark of another turn
   */
  goBack(mark?: AnswerMark): void {
    const { runId, ended } = this.#run;
    if (mark !== undefined && mark?.runId !== runId) throw fieldError('from', 'must be a mark of this turn');
    if (!ended) this.#behind(() => this.#goTo(mark));
  }

  /** Notes that the app makes a call of a former process again. */
  pass(callId: string): void {
    if (!this.#run.ended) this.#behind(() => this.#run.answer.pass(callId));
  }

  #goTo(mark: AnswerMark | undefined): void {
    const { answer, port, runId, ended } = this.#run;
    if (ended) return;
    const place = (mark && this.#places.get(mark)) ?? placeAt(0);
    // Marks in what is taken back are where it began.
    let isBehind = mark === undefined;
    for (const each of this.#places.keys()) {
      if (isBehind) this.#places.set(each, place);
      isBehind ||= each === mark;
    }
    if (!answer.goBack(place)) return;
    // The log tells of a write that fails.
    port.log.commit((state) => takenBack(state, runId, place)).catch(() => {});
  }

  /** Does something behind all that a guard still holds. */
  #behind(work: () => void): void {
    const { gate } = this.#run;
    if (gate) gate.put({ kind: null, value: undefined, closes: true, write: work });
    else work();
  }
}
