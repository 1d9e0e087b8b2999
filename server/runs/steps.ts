import { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError } from '../../shared/errors.js';
import type { Wire } from '../../shared/wire.js';
import { type BegunStep, MAX_STEP_NAME, type StepContext } from '../apps/application.js';
import type { StepRecord } from '../stores/stored.js';
import { RunOver } from './run-over.js';
import { failureOf, type StepFailure, toError } from './step-failure.js';

/** Size counted for each step besides its name and outcome, in characters. */
const OVERHEAD = 100;

/** The outcome of a step, as its record has it in JSON. Without a value, the function returned nothing. */
type StepOutcome = { readonly value?: unknown } | { readonly error: StepFailure };

/** The parts of a run that its steps use. */
export interface StepScope {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly ended: boolean;
  /** Whether the run may go on in another process. */
  readonly durable: boolean;
  /** Names and outcomes of all steps together, in characters. */
  readonly maxSize: number;
  /** Keeps steps with the run. Resolves once the store has them. */
  keep(steps: readonly StepRecord[]): Promise<unknown>;
}

/** The step under way, found by calls from inside its function. */
const inside = new AsyncLocalStorage<{ readonly of: RunSteps; over: boolean }>();

/** A step id that is unique among all runs, for idempotency keys of services that the step calls. */
function keyOf(runId: string, number: number): string {
  return `${runId}-${number}`;
}

/** The steps of a former process that had begun and not ended. */
export function begunSteps(left: readonly StepRecord[]): readonly BegunStep[] {
  return left
    .filter(({ outcome }) => outcome === undefined)
    .map(({ runId, number, name }) => ({ name, key: keyOf(runId, number) }));
}

/** The durable steps of one run, numbered in the order of their calls. A step that ended in a former process is not done again. */
export class RunSteps {
  readonly #scope: StepScope;
  readonly #left: ReadonlyMap<number, StepRecord>;
  #last = 0;
  #size = 0;
  /** Set once the app turns out to differ from the one that began the run. None of its later steps can be matched. */
  #mismatch: GatewayError | null = null;
  /** The steps to keep with the next append. */
  #keeping: { readonly steps: StepRecord[]; readonly kept: Promise<unknown> } | null = null;

  /** @param left The steps that a former process kept. */
  constructor(scope: StepScope, left: readonly StepRecord[] = []) {
    this.#scope = scope;
    this.#left = new Map(left.map((step) => [step.number, step]));
    for (const { name, outcome = '' } of left) this.#size += sizeOf(name, outcome);
  }

  /** @throws GatewayError as `Turn.step`; errors of the function; an `AbortError` once the run has ended */
  async run<T>(name: string, work: (context: StepContext) => T | Promise<T>): Promise<Wire<T>> {
    this.#check(name);
    const number = ++this.#last;
    const left = this.#match(number, name);
    if (left?.outcome !== undefined) return resultOf(JSON.parse(left.outcome) as StepOutcome) as Wire<T>;
    const { runId, signal, durable } = this.#scope;
    const step = { runId, number, name };
    if (!left) this.#grow(name, '');
    if (durable) await this.#keep(step);
    this.#assertGoingOn();
    let thrown: { readonly error: unknown } | null = null;
    let outcome: string;
    const here = { of: this, over: false };
    try {
      const context = { key: keyOf(runId, number), signal, interrupted: left !== undefined };
      outcome = this.#encode(name, await inside.run(here, () => work(context)));
    } catch (error) {
      thrown = { error };
      outcome = JSON.stringify({ error: failureOf(error) } satisfies StepOutcome);
    }
    here.over = true;
    this.#assertGoingOn();
    if (durable) {
      this.#size += outcome.length;
      await this.#keep({ ...step, outcome });
    }
    if (thrown) throw thrown.error;
    return resultOf(JSON.parse(outcome) as StepOutcome) as Wire<T>;
  }

  /** Keeps a step. Steps that begin or end together are one append, and so one disk sync. */
  #keep(step: StepRecord): Promise<unknown> {
    if (!this.#keeping) {
      const steps: StepRecord[] = [];
      const collected = new Promise<void>((resolve) => process.nextTick(resolve));
      const kept = collected.then(() => {
        this.#keeping = null;
        return this.#scope.keep(steps);
      });
      this.#keeping = { steps, kept };
    }
    this.#keeping.steps.push(step);
    return this.#keeping.kept;
  }

  #check(name: string): void {
    this.#assertGoingOn();
    if (this.#mismatch) throw this.#mismatch;
    if (typeof name !== 'string' || name === '' || name.length > MAX_STEP_NAME)
      throw invalid(`A step has a name of 1 to ${MAX_STEP_NAME} characters`);
    const outer = inside.getStore();
    // Code that a step left running may call further steps.
    if (outer?.of === this && !outer.over)
      throw invalid(`Step ${JSON.stringify(name)} is called within another one; steps do not nest`);
  }

  #assertGoingOn(): void {
    if (this.#scope.ended) throw new RunOver();
  }

  #match(number: number, name: string): StepRecord | undefined {
    const left = this.#left.get(number);
    if (!left || left.name === name) return left;
    this.#mismatch = new GatewayError({
      code: 'STEP_MISMATCH',
      message: `Step ${number} was ${JSON.stringify(left.name)} when the run began, and now is ${JSON.stringify(name)}`,
      details: { number, before: left.name, now: name },
    });
    throw this.#mismatch;
  }

  /** @throws GatewayError `INVALID_PARAMS` for a value that is not JSON, `PAYLOAD_TOO_LARGE` */
  #encode(name: string, value: unknown): string {
    let text: string | undefined;
    try {
      text = JSON.stringify(value);
    } catch (cause) {
      throw invalid(`The result of step ${JSON.stringify(name)} is no JSON`, cause);
    }
    if (text === undefined && value !== undefined)
      throw invalid(`The result of step ${JSON.stringify(name)} is no JSON, but a ${typeof value}`);
    const outcome = text === undefined ? '{}' : `{"value":${text}}`;
    if (this.#size + outcome.length > this.#scope.maxSize) throw this.#tooLarge(name);
    return outcome;
  }

  #grow(name: string, outcome: string): void {
    const size = sizeOf(name, outcome);
    if (this.#size + size > this.#scope.maxSize) throw this.#tooLarge(name);
    this.#size += size;
  }

  #tooLarge(name: string): GatewayError {
    const { maxSize } = this.#scope;
    return new GatewayError({
      code: 'PAYLOAD_TOO_LARGE',
      message: `Step ${JSON.stringify(name)} does not fit: the steps of a run are limited to ${maxSize} characters`,
    });
  }
}

const sizeOf = (name: string, outcome: string): number => name.length + outcome.length + OVERHEAD;

/** The result of a step's call, on the first and every later call. */
function resultOf(outcome: StepOutcome): unknown {
  if ('error' in outcome) throw toError(outcome.error);
  return outcome.value;
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError({ code: 'INVALID_PARAMS', message, cause });
}
