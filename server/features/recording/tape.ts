import { AsyncLocalStorage } from 'node:async_hooks';
import { inEveryCopy } from '../../../shared/in-every-copy.js';

/** Kinds of calls of an app whose results come from outside: a step, a tool's handler, a model's endpoint, a person. */
export type CallKind = 'step' | 'tool' | 'model' | 'ask' | 'confirm';

/** A call of an app. */
export interface Call {
  readonly kind: CallKind;
  /** Name of the step, tool or question; for a model, the path of its endpoint. */
  readonly name: string;
  readonly input: unknown;
}

/** A call with its result. */
export interface RecordedCall extends Call {
  readonly output?: unknown;
  readonly error?: { readonly message: string; readonly denied?: true };
}

/** A recorded run: one line of JSON. */
export interface RecordedTurn {
  readonly version: 1;
  readonly sessionId: string;
  readonly runId: string;
  /** The text of the message. */
  readonly message: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly calls: readonly RecordedCall[];
  /** The answer of the app, or its error. */
  readonly answer?: string;
  readonly error?: { readonly message: string };
}

/** Records or replays the calls of an app. */
export interface Tape {
  /** Makes a call, or answers it from the record. */
  call<T>(call: Call, real: () => Promise<T>): Promise<T>;
  /**
   * Notes a call under way whose output comes in pieces. Absent where calls are answered from the record.
   *
   * @param output Gives what has come so far. It is asked at the call's end, or at that of the run
   * @returns the end of the call, or its failure
   */
  note?(call: Call, output: () => unknown): (error?: unknown) => void;
}

/** The tape of the run that the present code belongs to. A command and an app may have copies of the package of their own. */
export const tapes = inEveryCopy('tape', () => new AsyncLocalStorage<Tape>());

/** Changes a value before it is kept or compared. Its result replaces the value. */
export type Redact = (key: string, value: unknown) => unknown;

const SECRET = /authorization|api[-_]?key|password|passwd|secret|cookie|^(?:access|refresh|id)?[-_]?token$/i;

/** Leaves out values of fields with names of secrets. */
export const withoutSecrets: Redact = (key, value) => (SECRET.test(key) ? '[left out]' : value);

/** A value as JSON without redacted parts, including those in texts that are JSON, as models get tools' results. */
export function kept(value: unknown, redact: Redact): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    const left = redact(key, inner);
    return typeof left === 'string' && /^\s*[{[]/.test(left) ? keptText(left, redact) : left;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

function keptText(text: string, redact: Redact): string {
  try {
    return JSON.stringify(kept(JSON.parse(text), redact));
  } catch {
    return text;
  }
}
