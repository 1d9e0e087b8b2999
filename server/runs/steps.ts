import { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError } from '../../shared/errors.js';
import type { Wire } from '../../shared/wire.js';
import type { FormerStep } from '../apps/goes-on.js';
import { type BegunStep, MAX_STEP_NAME, type StepContext } from '../apps/step-context.js';
import { jsonText } from '../schema/json-text.js';
import type { StepRecord } from '../stores/stored.js';
import { type KeptPlace, placeIn, recordOfPlace } from './place.js';
import { openStep, type Rehearsal } from './rehearsal.js';
import { RunOver } from './run-over.js';
import { failureOf, type StepFailure, saying, toError, wordsOf } from './step-failure.js';

/** Size counted for each step besides its name and outcome, in characters. */
const OVERHEAD = 100;

/** The outcome of a step, as its record has it in JSON. Without a value, the function returned nothing. */
type StepOutcome = ({ readonly value?: unknown } | { readonly error: StepFailure }) & {
  /** Ids of the tools' calls and the questions within the step. */
  readonly calls?: readonly string[];
};

/** A step as it is called, with its record of a former process. */
interface CalledStep {
  readonly number: number;
  readonly name: string;
  readonly left: StepRecord | undefined;
}

/** The number of the record that has the note of a step. Steps begin at 1. */
const noteOf = (number: number): number => -number;

/** The parts of a run that its steps use. */
export interface StepScope {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly ended: boolean;
  /** Whether the run may go on in another process. */
  readonly durable: boolean;
  /** Names and outcomes of all steps together, in characters. */
  readonly maxSize: number;
  /** Set for a rehearsal, in which no step is done. */
  readonly rehearsal?: Rehearsal | undefined;
  /** Checks what is kept; absent if nobody checks it. @throws RunOver if the run ends by it */
  checked?(name: string, value: unknown): Promise<unknown>;
  /** Waits until the run may make another call; null if it may. */
  hindered(): Promise<void> | null;
  /** Does what counts as work of the run, which is not parked meanwhile. */
  atWork<T>(work: () => Promise<T>): Promise<T>;
  /** Takes note of the calls within a step that is not done again. */
  passed(callIds: readonly string[]): void;
  /** Keeps steps with the run. Resolves once the store has them. */
  keep(steps: readonly StepRecord[]): Promise<unknown>;
}

/** The step under way, found by calls from inside its function. */
const inside = new AsyncLocalStorage<{ readonly of: RunSteps; readonly calls: string[]; over: boolean }>();

/** Notes a tool's call or a question as one of the step under way, if it is made within one. */
export function noteInStep(callId: string): void {
  const step = inside.getStore();
  if (step && !step.over) step.calls.push(callId);
}

/** Whether the code that asks is that of a step under way. */
export const isInStep = (): boolean => inside.getStore()?.over === false;

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

/** The steps of a former process by their numbers, with what they returned: up to the first that had not begun, though later ones may have. */
export function formerSteps(left: readonly StepRecord[]): readonly FormerStep[] {
  const byNumber = new Map(left.map((step) => [step.number, step]));
  const steps: FormerStep[] = [];
  for (let step = byNumber.get(1); step; step = byNumber.get(steps.length + 1)) {
    const { value } = JSON.parse(step.outcome ?? '{}') as { readonly value?: unknown };
    steps.push({ name: step.name, ...(value !== undefined && { value }) });
  }
  return steps;
}

/** The durable steps of one run, numbered in the order of their calls. A step that ended in a former process is not done again. */
export class RunSteps {
  readonly #scope: StepScope;
  readonly #left: ReadonlyMap<number, StepRecord>;
  #last = 0;
  #size = 0;
  /** Set once the app turns out to differ from the one that began the run. None of its later steps can be matched. */
  #mismatch: GatewayError | null = null;
  /** Sizes of the notes that were kept here, by the numbers of their records. */
  readonly #notes = new Map<number, number>();
  /** The steps to keep with the next append. */
  #keeping: { readonly steps: StepRecord[]; readonly kept: Promise<unknown> } | null = null;

  /** @param left The steps that a former process kept. */
  constructor(scope: StepScope, left: readonly StepRecord[] = []) {
    this.#scope = scope;
    this.#left = new Map(left.map((step) => [step.number, step]));
    this.#last = placeIn(left)?.steps ?? 0;
    for (const { name, outcome = '' } of left) this.#size += sizeOf(name, outcome);
  }

  /** @throws GatewayError as `Turn.step`; errors of the function; an `AbortError` once the run has ended */
  async run<T>(name: string, work: (context: StepContext) => T | Promise<T>): Promise<Wire<T>> {
    const step = this.#next(name);
    if (step.left?.outcome !== undefined) return this.#former(step.number, step.left.outcome) as Wire<T>;
    const before = this.#before(step);
    if (before) await before;
    return this.#scope.atWork(() => this.#do(step, work));
  }

  /**
   * Keeps a value that is known at once as a step with that outcome: no process finds it begun. Returns the value that a former process kept.
   *
   * @throws GatewayError as `run`
   */
  async runKnown<T>(name: string, value: T): Promise<Wire<T>> {
    const step = this.#next(name);
    if (step.left?.outcome !== undefined) return this.#former(step.number, step.left.outcome) as Wire<T>;
    const before = this.#before(step);
    if (before) await before;
    this.#assertGoingOn();
    if (!step.left) this.#grow(name, '');
    const outcome = await this.#ended(step, this.#encode(name, value, []));
    return resultOf(JSON.parse(outcome) as StepOutcome) as Wire<T>;
  }

  #next(name: string): CalledStep {
    this.#check(name);
    const number = ++this.#last;
    return { number, name, left: this.#match(number, name) };
  }

  /** The result of a step that a former process has done. */
  #former(number: number, outcome: string): unknown {
    const former = JSON.parse(outcome) as StepOutcome;
    this.#scope.passed(former.calls ?? []);
    this.#scope.rehearsal?.passed(openStep(number));
    return resultOf(former);
  }

  /** Waits until a step that has no outcome may begin; null if it may at once. In a rehearsal it never does. */
  #before({ number, name, left }: CalledStep): Promise<void> | null {
    const { rehearsal } = this.#scope;
    if (rehearsal) return rehearsal.meets({ what: 'step', name, ...(left && { open: openStep(number) }) });
    return this.#scope.hindered();
  }

  /** Does the work of a step that has no outcome, and keeps what comes of it. */
  async #do<T>(
    { number, name, left }: CalledStep,
    work: (context: StepContext) => T | Promise<T>,
  ): Promise<Wire<T>> {
    const { runId, signal, durable } = this.#scope;
    if (!left) this.#grow(name, '');
    if (durable) await this.#keep({ runId, number, name });
    this.#assertGoingOn();
    let thrown: { readonly error: unknown } | null = null;
    let outcome: string;
    const here = { of: this, calls: [] as string[], over: false };
    try {
      const noted = this.#noted(number);
      const context = {
        ...{ key: keyOf(runId, number), signal, interrupted: left !== undefined },
        ...(noted !== undefined && { noted }),
        note: (value: unknown) => this.#note(number, name, { value, isOver: () => here.over }),
      };
      outcome = this.#encode(name, await inside.run(here, () => work(context)), here.calls);
    } catch (error) {
      thrown = { error };
      outcome = `{"error":${JSON.stringify(failureOf(error))}${callsOf(here.calls)}}`;
    }
    here.over = true;
    this.#assertGoingOn();
    outcome = await this.#ended({ number, name }, outcome);
    if (thrown) throw thrown.error;
    return resultOf(JSON.parse(outcome) as StepOutcome) as Wire<T>;
  }

  /** Keeps the outcome of a step, and returns it as it is kept. */
  async #ended({ number, name }: Pick<CalledStep, 'number' | 'name'>, said: string): Promise<string> {
    const { runId, durable, checked } = this.#scope;
    if (!durable) return said;
    const outcome = checked ? await this.#checked(name, said) : said;
    this.#size += outcome.length;
    await this.#keep({ runId, number, name, outcome });
    return outcome;
  }

  /** Keeps the place of an app that goes on from one. @throws GatewayError `PAYLOAD_TOO_LARGE` */
  async keepPlace(place: Omit<KeptPlace, 'steps'>): Promise<void> {
    const { runId, durable, maxSize } = this.#scope;
    if (!durable) return;
    const value = this.#scope.checked ? await this.#scope.checked('place', place.value) : place.value;
    const record = recordOfPlace(runId, { ...place, value, steps: this.#last });
    if (this.#size + record.outcome!.length > maxSize) throw this.#tooLarge(record.name);
    await this.#keep(record);
  }

  /** An outcome, with what checks have put in place of its value or of the words of its error. */
  async #checked(name: string, outcome: string): Promise<string> {
    const kept = JSON.parse(outcome) as { value?: unknown; error?: StepFailure };
    const value = kept.error ? wordsOf(kept.error) : kept.value;
    const checked = await this.#scope.checked!(name, value);
    if (checked === value) return outcome;
    if (kept.error) kept.error = saying(kept.error, String(checked));
    else kept.value = checked;
    return JSON.stringify(kept);
  }

  #noted(number: number): unknown {
    const outcome = this.#left.get(noteOf(number))?.outcome;
    return outcome === undefined ? undefined : (JSON.parse(outcome) as { readonly value?: unknown }).value;
  }

  /** Keeps a note of a step under way, in place of its last one. */
  async #note(
    number: number,
    name: string,
    { value, isOver }: { readonly value: unknown; readonly isOver: () => boolean },
  ): Promise<void> {
    if (isOver()) throw invalid(`Step ${JSON.stringify(name)} has ended, and takes no note`);
    const said = this.#encode(name, value, []);
    if (!this.#scope.durable) return;
    const outcome = this.#scope.checked ? await this.#checked(name, said) : said;
    const at = noteOf(number);
    this.#size += outcome.length - (this.#notes.get(at) ?? this.#left.get(at)?.outcome?.length ?? 0);
    this.#notes.set(at, outcome.length);
    await this.#keep({ runId: this.#scope.runId, number: at, name, outcome });
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
    this.#scope.rehearsal?.differs({ what: 'step', before: left.name, now: name });
    this.#mismatch = new GatewayError({
      code: 'STEP_MISMATCH',
      message: `Step ${number} was ${JSON.stringify(left.name)} when the run began, and now is ${JSON.stringify(name)}`,
      details: { number, before: left.name, now: name },
    });
    throw this.#mismatch;
  }

  /** @throws GatewayError `INVALID_PARAMS` for a value that is not JSON, `PAYLOAD_TOO_LARGE` */
  #encode(name: string, value: unknown, calls: readonly string[]): string {
    let text: string | undefined;
    try {
      text = jsonText(value);
    } catch (cause) {
      throw invalid(`The result of step ${JSON.stringify(name)} is no JSON`, cause);
    }
    if (text === undefined && value !== undefined)
      throw invalid(`The result of step ${JSON.stringify(name)} is no JSON, but a ${typeof value}`);
    const all = `{${text === undefined ? '' : `"value":${text}`}${callsOf(calls)}}`;
    const outcome = all.replace(/^\{,/, '{');
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

/** The calls within a step, as the last part of its outcome. */
const callsOf = (calls: readonly string[]): string =>
  calls.length > 0 ? `,"calls":${JSON.stringify(calls)}` : '';

const sizeOf = (name: string, outcome: string): number => name.length + outcome.length + OVERHEAD;

/** The result of a step's call, on the first and every later call. */
function resultOf(outcome: StepOutcome): unknown {
  if ('error' in outcome) throw toError(outcome.error);
  return outcome.value;
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError({ code: 'INVALID_PARAMS', message, cause });
}
