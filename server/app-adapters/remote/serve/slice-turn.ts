import { GatewayError, isGatewayError } from '../../../../shared/errors.js';
import { textOf } from '../../../../shared/messages.js';
import type { Message } from '../../../../shared/messages.js';
import type { Confirmation } from '../../../apps/application.js';
import type { AppLine, CallLine, Slice } from '../lines.js';
import type { ServedChild, ServedStep, ServedTurn } from './served-app.js';

/** The part of a slice that is left for its end, and the most of it, in milliseconds. */
const END_SHARE = 0.1;
const MOST_END_MS = 5_000;
const MAX_NAME = 128;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

type Known = Slice['steps'][number] | Slice['calls'][number];
type WithoutNumber<T> = T extends unknown ? Omit<T, 'n'> : never;

/** The way out for what a turn says. It tells when the slice is over. */
export interface SliceOutput {
  say(line: AppLine): void;
  /** Ends the slice with its last line, unless it is over. */
  end(line: AppLine): void;
  readonly signal: AbortSignal;
}

/** The turn of one slice. Its methods are own fields, because apps destructure a turn. */
export class SliceTurn implements ServedTurn {
  readonly runId: string;
  readonly session: Slice['session'];
  readonly user: Slice['user'];
  readonly message: Slice['message'];
  readonly history: Slice['history'];
  readonly earlier: number;
  readonly metadata: Slice['metadata'];
  readonly parameters: Slice['parameters'];
  readonly trigger: Slice['trigger'];
  readonly tools: Slice['tools'];
  readonly text: string;
  readonly deadline: number;
  readonly rehearsing: boolean;
  readonly signal: AbortSignal;
  readonly #slice: Slice;
  readonly #output: SliceOutput;
  /** The time at which the slice begins no further step, by the clock of this process. */
  readonly #late: number;
  readonly #numbers = { step: 0, call: 0, data: 0, usage: 0 };
  /** Calls and sleeps that wait for their outcome, and functions of steps at work. */
  #open = 0;
  #working = 0;
  #isNew = false;
  /** Whether a step was left to the next slice. */
  #isLate = false;
  #actions = 0;

  constructor(slice: Slice, output: SliceOutput) {
    const { deadlineMs } = slice;
    this.runId = slice.runId;
    this.session = slice.session;
    this.user = slice.user;
    this.message = slice.message;
    this.history = slice.history;
    this.earlier = slice.earlier;
    this.metadata = slice.metadata;
    this.parameters = slice.parameters;
    this.trigger = slice.trigger;
    this.tools = slice.tools;
    this.text = textOf(slice.message as unknown as Message);
    this.deadline = Date.now() + deadlineMs;
    this.#late = this.deadline - Math.min(deadlineMs * END_SHARE, MOST_END_MS);
    this.rehearsing = slice.rehearsing === true;
    this.signal = output.signal;
    this.#slice = slice;
    this.#output = output;
  }

  readonly step: ServedTurn['step'] = (name, work) => handed(this.#step(name, work));

  async #step<T>(name: string, work: (step: ServedStep) => T | Promise<T>): Promise<T> {
    const n = this.#next('step', name);
    const known = this.#known(this.#slice.steps, n, { type: 'step', name });
    if (known && ended(known)) return resultOf(known) as T;
    if (!this.rehearsing && this.#isNew && Date.now() >= this.#late) {
      this.#isLate = true;
      this.#restsSoon();
      return never();
    }
    this.#say({ type: 'step', n, name });
    if (this.rehearsing) return this.#waits();
    return this.#do(n, name, { work, interrupted: known !== undefined });
  }

  async #do<T>(
    n: number,
    name: string,
    { work, interrupted }: { work(step: ServedStep): T | Promise<T>; readonly interrupted: boolean },
  ): Promise<T> {
    this.#working += 1;
    try {
      const value = copyOf(name, await work({ key: `${this.runId}-${n}`, signal: this.signal, interrupted }));
      this.#say({ type: 'step', n, name, value: value ?? null });
      return value as T;
    } catch (error) {
      this.#say({ type: 'step', n, name, error: failureOf(error) });
      throw error;
    } finally {
      this.#isNew = true;
      this.#working -= 1;
      this.#restsSoon();
    }
  }

  readonly sleep: ServedTurn['sleep'] = (name, time) => handed(this.#sleep(name, time));

  async #sleep(name: string, time: number | Date): Promise<void> {
    const n = this.#next('step', name);
    const known = this.#known(this.#slice.steps, n, { type: 'sleep', name });
    if (known && ended(known)) return;
    const wait = typeof time === 'number' ? { ms: time } : { until: time.getTime() };
    if (!known) this.#say({ type: 'sleep', n, name, ...wait });
    return this.#waits();
  }

  readonly ask: ServedTurn['ask'] = ({ name, payload, schema }) =>
    this.#call({ type: 'ask', name, ...(payload !== undefined && { payload }), ...(schema && { schema }) });

  readonly confirm: ServedTurn['confirm'] = ({ name, input, message }) =>
    this.#call({
      ...{ type: 'confirm', name },
      ...(input !== undefined && { input }),
      ...(message !== undefined && { message }),
    }) as Promise<Confirmation>;

  readonly callTool: ServedTurn['callTool'] = (name, input) =>
    this.#call({ type: 'tool', name, input: input ?? null });

  readonly spawn: ServedTurn['spawn'] = (app, options) =>
    this.#call({ type: 'spawn', app, ...options }) as Promise<ServedChild>;

  #call(line: WithoutNumber<CallLine>): Promise<unknown> {
    return handed(this.#called(line));
  }

  async #called(line: WithoutNumber<CallLine>): Promise<unknown> {
    const name = line.type === 'spawn' ? line.app : line.name;
    const n = this.#next('call', name);
    const known = this.#known(this.#slice.calls, n, { type: line.type, name });
    if (known && ended(known)) return resultOf(known);
    if (!known) this.#say({ ...line, n } as CallLine);
    return this.#waits();
  }

  readonly data: ServedTurn['data'] = (name, value, { id } = {}) => {
    this.#numbers.data += 1;
    const given = id ?? `${name}:${this.#numbers.data}`;
    this.#say({ type: 'data', id: given, name, value: value ?? null });
    return given;
  };

  readonly usage: ServedTurn['usage'] = (used) => {
    this.#numbers.usage += 1;
    this.#say({ type: 'usage', id: `${this.#numbers.usage}`, ...used });
  };

  readonly title: ServedTurn['title'] = (text) => this.#say({ type: 'title', text });

  readonly annotate: ServedTurn['annotate'] = (metadata) => this.#say({ type: 'annotate', metadata });

  #next(kind: 'step' | 'call', name: string): number {
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME)
      throw new GatewayError({
        code: 'INVALID_PARAMS',
        message: `A ${kind} has a name of 1 to ${MAX_NAME} characters`,
      });
    this.#numbers[kind] += 1;
    return this.#numbers[kind];
  }

  /** @throws GatewayError `STEP_MISMATCH` */
  #known<Each extends Known>(
    all: readonly Each[],
    n: number,
    now: Pick<Known, 'type' | 'name'>,
  ): Each | undefined {
    const known = all[n - 1];
    if (!known || (known.type === now.type && known.name === now.name)) return known;
    const mismatch = new GatewayError({
      code: 'STEP_MISMATCH',
      message: `The ${known.type} ${n} was ${JSON.stringify(known.name)}, and now is the ${now.type} ${JSON.stringify(now.name)}`,
    });
    // An app that catches it could not be matched any further.
    this.#output.end(lastOf(mismatch));
    throw mismatch;
  }

  #say(line: AppLine): void {
    this.#actions += 1;
    this.#output.say(line);
  }

  /** Waits for an outcome, which another slice has. */
  #waits(): Promise<never> {
    this.#open += 1;
    this.#restsSoon();
    return never();
  }

  /** Ends the slice if the app does nothing more in this turn of the event loop and the next one. */
  #restsSoon(): void {
    const { signal } = this;
    const actions = this.#actions;
    const rests = (): boolean => this.#working === 0 && !signal.aborted;
    setImmediate(() =>
      setImmediate(() => {
        if (!rests()) return;
        if (actions !== this.#actions) return this.#restsSoon();
        if (this.#isLate) this.#output.end({ type: 'continue' });
        else if (this.#open > 0) this.#output.end({ type: 'wait' });
      }),
    );
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** Keeps a failure that an app does not hear from ending its process. */
function handed<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

const ended = (known: Known): boolean => 'value' in known || known.error !== undefined;

function resultOf({ value, error }: Known): unknown {
  if (error) throw new GatewayError({ code: error.code ?? 'INTERNAL', message: error.message });
  return value;
}

/** A result as JSON. @throws GatewayError `INVALID_PARAMS` */
function copyOf(name: string, value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    const message = `The result of step ${JSON.stringify(name)} is no JSON`;
    throw new GatewayError({ code: 'INVALID_PARAMS', message, cause });
  }
}

/** A failure as a line has it. Only the app's own codes are told. */
export function failureOf(error: unknown): { readonly code?: string; readonly message: string } {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  return typeof code === 'string' && CODE.test(code) ? { code, message: text } : { message: text };
}

/** The last line of a run whose app threw. Only a `GatewayError` is meant for people. */
export const lastOf = (error: unknown): Extract<AppLine, { readonly type: 'error' }> =>
  isGatewayError(error) && CODE.test(error.code)
    ? { type: 'error', code: error.code, message: error.message }
    : { type: 'error', code: 'INTERNAL', message: 'The app failed' };
