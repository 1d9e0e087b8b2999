import type { AppEvent, AppResult, Confirmation } from '../../../apps/application.js';
import type { Slice } from '../lines.js';

/** The argument of a step's function. */
export interface ServedStep {
  /** Identifies this step of this run, also when it runs again: an idempotency key. */
  readonly key: string;
  /** Aborted when nobody reads the reply any more. */
  readonly signal: AbortSignal;
  /** Whether the step has begun before. It may have had its effect, with only its outcome missing. */
  readonly interrupted: boolean;
}

/** The outcome of a child run. */
export interface ServedChild {
  readonly runId: string;
  /** Absent for a detached child. */
  readonly text?: string;
  readonly stopReason?: string;
}

/**
 * One turn of an app that runs elsewhere. Its code runs from the beginning in each slice: calls that have their outcome return at once, and what was said is
 * not said twice.
 */
export interface ServedTurn
  extends Pick<
    Slice,
    | 'runId'
    | 'session'
    | 'user'
    | 'message'
    | 'history'
    | 'earlier'
    | 'metadata'
    | 'parameters'
    | 'trigger'
    | 'tools'
  > {
  readonly text: string;
  /** The last moment of this slice, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly rehearsing: boolean;
  /** Aborted when the slice is over. */
  readonly signal: AbortSignal;
  /**
   * Does work that is not repeated once the gateway has its outcome, which is always a JSON copy. Near the end of the slice it is left to the next one.
   *
   * @throws GatewayError `STEP_MISMATCH` if another step was called in this place before, `INVALID_PARAMS`; what the function threw
   */
  step<T>(name: string, work: (step: ServedStep) => T | Promise<T>): Promise<T>;
  /** Waits. Nothing of the app runs meanwhile. @param time Duration in milliseconds, or the time of waking */
  sleep(name: string, time: number | Date): Promise<void>;
  /** Asks the person. @param schema JSON Schema of the answer. @throws GatewayError `DENIED` */
  ask(question: {
    readonly name: string;
    readonly payload?: unknown;
    readonly schema?: Readonly<Record<string, unknown>>;
  }): Promise<unknown>;
  /** Asks the person for consent. */
  confirm(request: {
    readonly name: string;
    readonly input?: unknown;
    readonly message?: string;
  }): Promise<Confirmation>;
  /** Calls one of `tools`, which the gateway runs. @throws GatewayError `DENIED`, `TOOL_FAILED` */
  callTool(name: string, input: unknown): Promise<unknown>;
  /** Begins a child run of an app of the gateway, and resolves with its end; for a detached one, at once. */
  spawn(
    app: string,
    options: {
      readonly message: string;
      readonly id?: string;
      readonly detached?: boolean;
      readonly wakes?: boolean;
    },
  ): Promise<ServedChild>;
  /** Creates a data block of the answer, or replaces the one with the id. Returns the id. */
  data(name: string, value: unknown, options?: { readonly id?: string }): string;
  /** Adds what a call of a model has used. @param used With an `id`, which counts once; by default its number in the run */
  usage(used: Readonly<Record<string, unknown>>): void;
  title(text: string): void;
  annotate(metadata: Readonly<Record<string, unknown>>): void;
}

/** An app that `serveApp` serves. It may yield text, and the events of reasoning, data, and tools that it ran itself. */
export interface ServedApp {
  run(
    turn: ServedTurn,
  ):
    | AsyncIterable<string | AppEvent, string | AppResult | void>
    | Promise<string | AppResult | void>
    | string
    | AppResult
    | void;
}
