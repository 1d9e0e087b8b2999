import type { StandardSchemaV1 } from '@standard-schema/spec';
import { GatewayError, GuardError } from '../../shared/errors.js';
import type { ContextChannels, MethodContext, ParentSpan } from '../../shared/method.js';
import { settleWithin, startDeadline } from '../async/deadline.js';
import { andThen, isPromise, type MaybePromise } from '../async/maybe-promise.js';
import { accept, check, type Outcome } from '../schema/validate.js';
import { runInContext } from './context.js';
import type { MethodEntry } from './flatten.js';

/** What a door tells a call of its caller. Each is asked for once, the signal only where the handler asks. */
export interface CallerContext
  extends Pick<MethodContext, 'user' | 'metadata' | 'traceId' | 'requestId' | 'emit' | 'signal'> {
  readonly parentSpan?: ParentSpan | undefined;
  readonly channels?: ContextChannels | undefined;
  readonly lastEventId?: string | undefined;
}

/** Bounds of one call, and who is told of its end. */
export interface CallOptions {
  /** Milliseconds a handler may take; the method's own `timeoutMs` wins. Streams are bounded by their own alone. */
  readonly timeoutMs?: number;
  /** Milliseconds a guard may take before its silence denies the call. @default Infinity */
  readonly guardMs?: number;
  /** Called once when the call is over, whichever way, before its answer can be seen. */
  readonly ended?: () => void;
}

/**
 * Calls a method: roles, schema, guard, handler, in this order and within the call's context. Where no step is asynchronous, the
 * result is no promise, and a failure is thrown.
 *
 * The context's signal is aborted when the caller's is or the time is up. What a handler throws passes through as it is.
 *
 * @throws GatewayError `GUARD_DENIED`, `INVALID_PARAMS`, `TIMEOUT`; `INTERNAL` for a result that does not match the method's
 *   result schema (the faults are its `cause`) or is an async iterable; `INVALID_REQUEST` for a streaming method.
 */
export function callMethod(
  entry: MethodEntry,
  params: unknown,
  context: CallerContext,
  { timeoutMs, guardMs, ended }: CallOptions = {},
): MaybePromise<unknown> {
  if (entry.stream) {
    throw new GatewayError({ code: 'INVALID_REQUEST', message: `${entry.path} is a streaming method` });
  }
  const call = new CallContext(context, ended);
  const boundMs = entry.definition.timeoutMs ?? timeoutMs;
  try {
    const answer = runInContext(call, () => perform(entry, params, call, { timeoutMs: boundMs, guardMs }));
    if (!isPromise(answer)) call.release();
    return answer;
  } catch (error) {
    call.release();
    throw error;
  }
}

interface Bounds {
  readonly timeoutMs: number | undefined;
  readonly guardMs: number | undefined;
}

/** Checks and runs a call. A promise of it settles once the call is over, and has released it. */
function perform(
  entry: MethodEntry,
  params: unknown,
  call: CallContext,
  { timeoutMs, guardMs }: Bounds,
): MaybePromise<unknown> {
  const input = admit(entry, params, call, guardMs);
  if (!isPromise(input)) return handle(entry, input, call, timeoutMs);
  return input.then((valid) => handle(entry, valid, call, timeoutMs)).finally(() => call.release());
}

function handle(
  entry: MethodEntry,
  input: unknown,
  call: CallContext,
  timeoutMs: number | undefined,
): MaybePromise<unknown> {
  const returned = entry.definition.handler(input, call);
  if (!isPromise(returned)) return released(call, finish(entry, returned));
  return new Promise((resolve, reject) => {
    const cancel = startDeadline(timeoutMs, () => {
      const message = `${entry.path} took longer than ${timeoutMs} ms`;
      const error = new GatewayError({ code: 'TIMEOUT', message });
      call.abort(error);
      fail(error);
    });
    const fail = (error: unknown): void => {
      cancel();
      call.release();
      reject(error);
    };
    const succeed = (value: unknown): void => {
      cancel();
      try {
        const result = finish(entry, value);
        if (isPromise(result)) return void result.then(done, fail);
        done(result);
      } catch (error) {
        fail(error);
      }
    };
    const done = (result: unknown): void => {
      call.release();
      resolve(result);
    };
    returned.then(succeed, fail);
  });
}

/** Releases a call once what its handler returned was looked at, which may take its time. */
function released(call: CallContext, result: MaybePromise<unknown>): MaybePromise<unknown> {
  return isPromise(result) ? result.finally(() => call.release()) : result;
}

function finish(entry: MethodEntry, value: unknown): MaybePromise<unknown> {
  if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: `${entry.path} returned an async iterable; write it as an async generator or declare method({ stream: true })`,
    });
  }
  return validResult(entry, value);
}

/**
 * Decides on a call, in the order roles, schema, guard, and returns the parameters for the handler.
 *
 * @param guardMs Milliseconds a guard may take before its silence denies the call.
 * @throws GuardError with `guardType` `role` or `custom`. What a guard throws is its `cause` and never its text.
 * @throws GatewayError `INVALID_PARAMS`.
 */
export function admit(
  entry: MethodEntry,
  params: unknown,
  context: MethodContext,
  guardMs?: number,
): MaybePromise<unknown> {
  const { roles, schema, guard } = entry.definition;
  if (roles && !holdsAnyRole(context.user, roles)) {
    throw new GuardError({
      guardType: 'role',
      message: `Calling ${entry.path} takes a role that you do not hold`,
    });
  }
  const input = schema ? validParams(schema, params, `params of ${entry.path}`) : params;
  if (!guard) return input;
  return andThen(input, (valid) =>
    andThen(
      guardAnswer(entry.path, () => guard(context, valid), guardMs),
      () => valid,
    ),
  );
}

/** Whether a user holds one of the roles. Names are compared exactly; roles that are no list are none. */
export function holdsAnyRole(user: { readonly roles?: unknown } | null, roles: readonly string[]): boolean {
  const held: unknown = user?.roles;
  return Array.isArray(held) && roles.some((role) => held.includes(role));
}

function validParams(schema: StandardSchemaV1, params: unknown, what: string): MaybePromise<unknown> {
  const outcome = check(schema, params);
  if (params !== undefined) return andThen(outcome, (known) => accept(known, what));
  // Callers may leave out parameters whose every field is optional, so absent ones are also tried as an empty object.
  return andThen(outcome, (absent) =>
    absent.issues
      ? andThen(check(schema, {}), (empty) => accept(namesFields(empty) ? empty : absent, what))
      : absent.value,
  );
}

function namesFields(outcome: Outcome): boolean {
  return !outcome.issues || outcome.issues.some((issue) => issue.path !== '');
}

function guardAnswer(path: string, ask: () => unknown, guardMs: number | undefined): MaybePromise<void> {
  let answer: unknown;
  try {
    answer = ask();
  } catch (cause) {
    throw denial(path, cause);
  }
  if (!isPromise(answer)) return requireTrue(path, answer);
  const timely = settleWithin(answer, guardMs, () => ({
    error: new GatewayError({ code: 'TIMEOUT' }),
  }));
  return timely.then(
    (value) => requireTrue(path, value),
    (cause: unknown) => {
      throw denial(path, cause);
    },
  );
}

function requireTrue(path: string, answer: unknown): void {
  if (answer !== true) throw denial(path);
}

function denial(path: string, cause?: unknown): GuardError {
  return new GuardError({ guardType: 'custom', message: `The guard of ${path} denied the call`, cause });
}

/**
 * The context of one call: the caller's, with a signal of its own that also ends with the call's time. Most handlers never look
 * at the signal, so it is made when it is first read.
 */
export class CallContext implements MethodContext {
  readonly user: MethodContext['user'];
  readonly metadata: MethodContext['metadata'];
  readonly traceId: string;
  declare readonly parentSpan?: ParentSpan;
  declare readonly lastEventId?: string;
  declare readonly channels?: ContextChannels;
  readonly emit: MethodContext['emit'];
  readonly #caller: CallerContext;
  #controller: AbortController | undefined;
  #abortion: { readonly reason: unknown } | undefined;
  #unlink: (() => void) | undefined;
  #released = false;
  readonly #ended: (() => void) | undefined;

  /** @param ended Called once, when the call is over. */
  constructor(caller: CallerContext, ended?: () => void) {
    this.#caller = caller;
    this.#ended = ended;
    this.user = caller.user;
    this.metadata = caller.metadata;
    this.traceId = caller.traceId;
    this.emit = (name, payload) => caller.emit(name, payload);
    const { parentSpan, lastEventId, channels } = caller;
    if (parentSpan) this.parentSpan = parentSpan;
    if (lastEventId !== undefined) this.lastEventId = lastEventId;
    if (channels) this.channels = channels;
  }

  get requestId(): string {
    return this.#caller.requestId;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    if (this.#abortion) this.#controller.abort(this.#abortion.reason);
    else if (!this.#released) this.#link(this.#caller.signal);
    return this.#controller.signal;
  }

  /** Aborts the call's signal, not the caller's. */
  abort(reason: unknown): void {
    this.#abortion ??= { reason };
    this.#controller?.abort(reason);
  }

  /** Ends the call: from now on the caller's signal, which may outlive many calls, no longer holds this one. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#unlink?.();
    this.#unlink = undefined;
    this.#ended?.();
  }

  #link(outer: AbortSignal): void {
    if (outer.aborted) {
      this.abort(outer.reason);
      return;
    }
    const forward = () => this.abort(outer.reason);
    outer.addEventListener('abort', forward, { once: true });
    this.#unlink = () => outer.removeEventListener('abort', forward);
  }
}

/**
 * Validates a result, or one item of a stream, with the method's result schema, if it has one.
 *
 * @throws GatewayError `INTERNAL`: the fault is the method's. Which fields are wrong is said in its `cause` alone, for the log.
 */
export function validResult(entry: MethodEntry, value: unknown): MaybePromise<unknown> {
  const { result } = entry.definition;
  return result ? andThen(check(result, value), (outcome) => acceptResult(entry.path, outcome)) : value;
}

function acceptResult(path: string, outcome: Outcome): unknown {
  try {
    return accept(outcome, `result of ${path}`);
  } catch (cause) {
    throw new GatewayError({
      code: 'INTERNAL',
      message: `The result of ${path} does not match its result schema`,
      cause,
    });
  }
}
