import type { StandardSchemaV1 } from '@standard-schema/spec';
import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { Turn } from '../../apps/application.js';
import { FORMER_STEPS, type FormerStep } from '../../apps/goes-on.js';
import { ToolCallError } from '../../runs/tool-error.js';
import { checkSchema } from '../../schema/check-schema.js';
import { validateJsonSchema } from '../../schema/plain-json-schema.js';
import type { JsonSchema } from '../../schema/schema.js';
import { replyFault } from './fault.js';
import type { AppLine, CallLine, Slice } from './lines.js';

type StepLine = Extract<AppLine, { readonly type: 'step' }>;
type SleepLine = Extract<AppLine, { readonly type: 'sleep' }>;
type CallOutcome = {
  readonly value?: unknown;
  readonly error?: { readonly code?: string; readonly message: string };
};

/** A step, a sleep or a call of a run, as slices are told of it. */
interface JournalEntry {
  readonly n: number;
  readonly type: (StepLine | SleepLine | CallLine)['type'];
  readonly name: string;
  outcome?: CallOutcome;
}

interface StepEntry extends JournalEntry {
  /** Ends the step; absent for a sleep. */
  readonly end?: (outcome: CallOutcome) => void;
  /** Settles once the store has the outcome. */
  stored: Promise<unknown>;
}

/** The steps and calls of a run so far, by the lines of its slices, with their outcomes. */
export class RunJournal {
  readonly #turn: Turn;
  readonly #steps: StepEntry[] = [];
  readonly #calls: JournalEntry[] = [];
  /** Number of outcomes that came from elsewhere than the app. */
  #outcomes = 0;
  #told = 0;
  /** Settle once the store has the outcomes of steps that it has not yet. */
  readonly #unstored = new Set<Promise<unknown>>();
  /** In a rehearsal, the former steps until the app comes to what is behind them: only it can tell whether it calls them. */
  #ahead: readonly FormerStep[] = [];
  #wake: (() => void) | null = null;
  #failed: { readonly error: unknown } | null = null;

  constructor(turn: Turn) {
    this.#turn = turn;
    const former = (turn as { readonly [FORMER_STEPS]?: readonly FormerStep[] })[FORMER_STEPS] ?? [];
    if (turn.rehearsing) this.#ahead = former;
    for (const step of former) this.#again(step);
  }

  /** The steps and calls, for the next slice. */
  tell(): Pick<Slice, 'steps' | 'calls'> {
    this.#told = this.#outcomes;
    const told = ({ n, type, name, outcome }: JournalEntry): JournalEntry => ({ n, type, name, ...outcome });
    return { steps: this.#steps.map(told), calls: this.#calls.map(told) } as Pick<Slice, 'steps' | 'calls'>;
  }

  /** Takes a line. Returns whether it says something new. @throws GatewayError `APP_REPLY_INVALID`, `STEP_MISMATCH` */
  take(line: StepLine | SleepLine | CallLine, number: number): boolean {
    this.#pass();
    const isStep = line.type === 'step' || line.type === 'sleep';
    const all: JournalEntry[] = isStep ? this.#steps : this.#calls;
    const known = all[line.n - 1];
    if (known) assertSame(known, line);
    else if (line.n !== all.length + 1)
      throw replyFault(
        number,
        'n',
        `must be at most ${all.length + 1}, the next number of a new ${isStep ? 'step' : 'call'}`,
      );
    if (line.type === 'step') return this.#step(line, known as StepEntry | undefined);
    if (known) return false;
    if (line.type === 'sleep') this.#sleep(line, number);
    else this.#call(line);
    return true;
  }

  /** Resolves once the store has all outcomes of steps; undefined if it has. @throws the error of a step that could not be kept */
  stored(): Promise<void> | undefined {
    if (this.#failed) return Promise.reject(this.#failed.error);
    return this.#unstored.size === 0 ? undefined : this.#allStored();
  }

  /** Whether the store has all outcomes of steps. */
  get isStored(): boolean {
    return this.#unstored.size === 0 && !this.#failed;
  }

  async #allStored(): Promise<void> {
    await Promise.all(this.#unstored);
    if (this.#failed) throw this.#failed.error;
  }

  /** Whether a call or a sleep is open, or has ended since the slice was told. */
  get waits(): boolean {
    const isOpen = ({ type, outcome }: JournalEntry): boolean => type !== 'step' && !outcome;
    return this.#told !== this.#outcomes || this.#steps.some(isOpen) || this.#calls.some(isOpen);
  }

  /** Resolves once there is an outcome that the last slice was not told. */
  async news(): Promise<void> {
    while (this.#told === this.#outcomes && !this.#failed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#failed) throw this.#failed.error;
  }

  #step(line: StepLine, known: StepEntry | undefined): boolean {
    const outcome = outcomeOf(line);
    const entry = known ?? this.#begin(line.name);
    if (outcome && !entry.outcome) {
      entry.outcome = outcome;
      entry.end?.(outcome);
      this.#unstored.add(entry.stored);
      const over = (): boolean => this.#unstored.delete(entry.stored);
      entry.stored.then(over, over);
      return true;
    }
    return !known;
  }

  #begin(name: string): StepEntry {
    let end!: (outcome: CallOutcome) => void;
    const ended = new Promise<CallOutcome>((resolve) => {
      end = resolve;
    });
    const stored = this.#turn.step(name, () => ended);
    stored.catch(this.#fail);
    const entry: StepEntry = { n: this.#steps.length + 1, type: 'step', name, end, stored };
    this.#steps.push(entry);
    return entry;
  }

  #sleep({ name, ms, until }: SleepLine, number: number): void {
    const time = ms ?? (until === undefined ? undefined : new Date(until));
    if (time === undefined) throw replyFault(number, 'ms', 'must be a number, or until');
    this.#slept(name, time);
  }

  #slept(name: string, time: number | Date): void {
    const stored = this.#turn.sleep(name, time);
    const entry: StepEntry = { n: this.#steps.length + 1, type: 'sleep', name, stored };
    this.#steps.push(entry);
    stored.then(() => this.#ended(entry, { value: null }), this.#fail);
  }

  /** Calls a step of a former process in its place, which gives what it gave. */
  #again({ name, value }: FormerStep): void {
    if (this.#turn.rehearsing) return this.#note(name, value);
    if (typeof value === 'number') return this.#slept(name, new Date(value));
    const entry = this.#begin(name);
    if (value === undefined) return;
    entry.outcome = value as CallOutcome;
    entry.end!(entry.outcome);
  }

  /** Notes a step of a former process, for an app that is rehearsed. */
  #note(name: string, value: unknown): void {
    const isSleep = typeof value === 'number';
    const outcome = isSleep ? (value <= Date.now() ? { value: null } : undefined) : (value as CallOutcome);
    const entry: StepEntry = {
      ...{ n: this.#steps.length + 1, type: isSleep ? 'sleep' : 'step', name },
      stored: Promise.resolve(),
    };
    this.#steps.push(outcome ? { ...entry, outcome } : entry);
  }

  /** Calls the former steps of an app that is rehearsed, once it is behind them. */
  #pass(): void {
    const ahead = this.#ahead;
    this.#ahead = [];
    for (const { name, value } of ahead) {
      if (typeof value === 'number') this.#turn.sleep(name, new Date(value)).catch(() => {});
      else this.#turn.step(name, () => null).catch(() => {});
    }
  }

  #call(line: CallLine): void {
    const name = line.type === 'spawn' ? line.app : line.name;
    const entry: JournalEntry = { n: line.n, type: line.type, name };
    this.#calls.push(entry);
    this.#made(line).then(
      (value) => this.#ended(entry, { value: value ?? null }),
      (error: unknown) => {
        const failure = failureOf(error);
        if (failure) this.#ended(entry, { error: failure });
        else this.#fail(error);
      },
    );
  }

  async #made(line: CallLine): Promise<unknown> {
    const turn = this.#turn;
    if (line.type === 'tool') return turn.callTool(line.name, line.input);
    if (line.type === 'confirm') {
      const { name, input, message } = line;
      return turn.confirm({
        name,
        ...(input !== undefined && { input }),
        ...(message !== undefined && { message }),
      });
    }
    if (line.type === 'ask') {
      const { name, payload, schema } = line;
      return turn.ask({
        name,
        ...(payload !== undefined && { payload }),
        ...(schema && { schema: standardOf(schema) }),
      });
    }
    const { app, n, message, id = `${app}:${n}`, detached = false, wakes = false } = line;
    const child = turn.spawn(app, { message, id, ...(detached && { detached, wakes }) });
    const { runId } = child;
    if (detached) return { runId };
    const { text, stopReason } = await child.result;
    return { runId, text, stopReason };
  }

  #ended(entry: JournalEntry, outcome: CallOutcome): void {
    entry.outcome = outcome;
    this.#outcomes += 1;
    this.#wake?.();
  }

  readonly #fail = (error: unknown): void => {
    this.#failed ??= { error };
    this.#wake?.();
  };
}

function outcomeOf({ value, error }: StepLine): CallOutcome | null {
  if (error) return { error };
  return value === undefined ? null : { value };
}

function assertSame({ n, type, name }: JournalEntry, line: StepLine | SleepLine | CallLine): void {
  const now = line.type === 'spawn' ? line.app : line.name;
  if (type === line.type && name === now) return;
  throw new GatewayError({
    code: 'STEP_MISMATCH',
    message: `The ${type} ${n} was ${JSON.stringify(name)}, and now is the ${line.type} ${JSON.stringify(now)}`,
    details: { number: n, before: name, now },
  });
}

/** The failure of a call as the app is told it; null if the run has ended, or may not go on. */
function failureOf(error: unknown): { readonly code: string; readonly message: string } | null {
  if (error instanceof ToolCallError)
    return { code: error.denied ? 'DENIED' : 'TOOL_FAILED', message: error.message };
  return isGatewayError(error) ? { code: String(error.code), message: error.message } : null;
}

/** A schema that came as JSON, for answers of people. @throws GatewayError `INVALID_PARAMS` */
function standardOf(schema: JsonSchema): StandardSchemaV1 {
  checkSchema(schema, 'schema');
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    const verdict = validateJsonSchema(schema, value);
    if ('value' in verdict) return { value: verdict.value };
    return { issues: verdict.issues.map(({ path, message }) => ({ message, path: path.split('.') })) };
  };
  const asIs = (): JsonSchema => schema;
  const standard = { version: 1, vendor: 'json-schema', validate, jsonSchema: { input: asIs, output: asIs } };
  return { '~standard': standard } as StandardSchemaV1;
}
