/** A place in the answer of a turn, to which `turn.retract` goes back. */
export interface AnswerMark {
  readonly runId: string;
}
