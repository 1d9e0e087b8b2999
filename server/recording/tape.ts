import { AsyncLocalStorage } from 'node:async_hooks';

/** What of a run came from elsewhere: a step, a tool's handler, a model's endpoint, a person. */
export type CallKind = 'step' | 'tool' | 'model' | 'ask' | 'confirm';

/** What an app asked for. */
export interface Call {
  readonly kind: CallKind;
  /** Of the step, tool or question; of a model, the path of its endpoint. */
  readonly name: string;
  readonly input: unknown;
}

/** The same, with what came of it. */
export interface RecordedCall extends Call {
  readonly output?: unknown;
  readonly error?: { readonly message: string; readonly denied?: true };
}

/** One run, as it is recorded: a line of JSON. */
export interface RecordedTurn {
  readonly version: 1;
  readonly sessionId: string;
  readonly runId: string;
  /** The text of the message, and what was attached to it. */
  readonly message: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly calls: readonly RecordedCall[];
  /** What the app said, or why it failed. */
  readonly answer?: string;
  readonly error?: { readonly message: string };
}

/** What stands between an app and all that it calls. */
export interface Tape {
  /** Does a call, or answers it from the record. */
  call<T>(call: Call, real: () => Promise<T>): Promise<T>;
}

// Two copies of the package, such as that of a command and that of an app, share it.
const KEY = Symbol.for('agent-session-gateway.tape');
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Tape> };
shared[KEY] ??= new AsyncLocalStorage<Tape>();

/** The tape of the run that this is part of. */
export const tapes: AsyncLocalStorage<Tape> = shared[KEY];

/** Changes a value before it is kept or compared: what it returns takes the value's place. */
export type Redact = (key: string, value: unknown) => unknown;

const SECRET = /authorization|api[-_]?key|password|passwd|secret|cookie|^(?:access|refresh|id)?[-_]?token$/i;

/** Leaves out the values of fields whose names say that they are secret. */
export const withoutSecrets: Redact = (key, value) => (SECRET.test(key) ? '[left out]' : value);

/** A value as JSON has it, with what is left out, also of texts that are JSON: so tools' results reach models. */
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
