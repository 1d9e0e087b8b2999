/** Longest name of a step, in characters. */
export const MAX_STEP_NAME = 128;

/** The argument of a step's function. */
export interface StepContext {
  /** Identifies this step of this run, also when it runs again. Use it as an idempotency key for services that the step calls. */
  readonly key: string;
  /** Aborted when the run ends other than by its own end. */
  readonly signal: AbortSignal;
  /** Whether a former process began the step. It may have had its effect, with only its result missing. */
  readonly interrupted: boolean;
  /** The last note of the former process; absent if it has left none. */
  readonly noted?: unknown;
  /**
   * Keeps a note for the process that does the step again, in place of the last one: the id of a job elsewhere, with which it can go on. Resolves once the store
   * has it. It counts towards `limits.stepsSize`.
   *
   * @throws GatewayError `INVALID_PARAMS` for a value that is not JSON, and after the step; `PAYLOAD_TOO_LARGE`
   */
  note(value: unknown): Promise<void>;
}

/** A step that was under way when its process ended. Its effect is unknown. */
export interface BegunStep {
  readonly name: string;
  /** The key that its function was given. */
  readonly key: string;
}
